#include <gpu/matmul.hpp>

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/memory_errors.hpp"
#include "cpu/matmul/matmul.hpp"
#include "cuda/matmul/matmul.hpp"
#include "plan/matmul_variants.hpp"

namespace gpu::inline v0 {
namespace {

void check_options(const matmul_options& options) {
  detail::check_enumerator("options.a", options.a, transposition::transpose);
  detail::check_enumerator("options.b", options.b, transposition::transpose);
  detail::check_enumerator("options.variant", options.variant, matmul_variant::blas);
  detail::check_execution(options.exec);
  detail::check_one_device(options.exec);
}

const char* op_text(transposition how) {
  return how == transposition::transpose ? "transposed " : "";
}

template <class ViewIn, class ViewOut>
detail::matmul_extents check_operands(const ViewIn& a, const ViewIn& b, const ViewOut& c,
                                      const matmul_options& options) {
  check_options(options);
  const detail::matmul_extents extents =
      detail::check_matmul_extents(a.rows(), a.cols(), b.rows(), b.cols(), options);
  if (c.rows() != extents.m || c.cols() != extents.n) {
    throw invalid_argument(fmt::format("matmul: c is [{}, {}], expected [{}, {}]", c.rows(),
                                       c.cols(), extents.m, extents.n));
  }
  if (detail::may_overlap(detail::bytes_of(c), detail::bytes_of(a)))
    throw invalid_argument("matmul: c overlaps a, expected separate memory");
  if (detail::may_overlap(detail::bytes_of(c), detail::bytes_of(b)))
    throw invalid_argument("matmul: c overlaps b, expected separate memory");
  return extents;
}

// What the device form may use beside the operands: the caller's workspace, else the limit.
std::size_t workspace_limit(const matmul_options& options) {
  if (!options.workspace.empty()) return static_cast<std::size_t>(options.workspace.size());
  return options.exec.workspace_bytes != 0 ? options.exec.workspace_bytes
                                           : std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::string_view to_string(matmul_variant variant) noexcept {
  return detail::name_in(variant, {"automatic", "naive", "pitched", "shared_tiled",
                                   "register_tiled", "tensor", "blas"});
}

namespace detail {

matmul_extents check_matmul_extents(index_t a_rows, index_t a_cols, index_t b_rows, index_t b_cols,
                                    const matmul_options& options) {
  return with_memory_errors("matmul", [&] {
    const bool a_transposed = options.a == transposition::transpose;
    const bool b_transposed = options.b == transposition::transpose;
    const index_t a_depth = a_transposed ? a_rows : a_cols;
    const index_t b_depth = b_transposed ? b_cols : b_rows;
    if (a_depth != b_depth) {
      throw invalid_argument(fmt::format(
          "matmul: {}a is [{}, {}] and {}b is [{}, {}]; expected as many columns as rows",
          op_text(options.a), a_transposed ? a_cols : a_rows, a_depth, op_text(options.b), b_depth,
          b_transposed ? b_rows : b_cols));
    }
    return matmul_extents{
        .m = a_transposed ? a_cols : a_rows, .n = b_transposed ? b_rows : b_cols, .k = a_depth};
  });
}

void check_new_product(const matmul_options& options) {
  if (options.beta == 0) return;
  throw invalid_argument(fmt::format(
      "options.beta: got {}, expected 0: the result is a new matrix, give one to add to",
      options.beta));
}

template <class T>
void matmul(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
            const matmul_options& options) {
  with_memory_errors("matmul", [&] {
    check_operands(a, b, c, options);
    check_no_stream(options.exec);
    run_on(
        resolve_backend(options.exec), options.exec, "matmul", c.rows(),
        [&] { cuda::matmul(a, b, c, options); },
        [&] {
          const matmul_choice choice = choose_matmul_cpu(options.variant, cpu::has_blas());
          if (c.empty()) return;
          if (choice.variant == matmul_variant::blas) return cpu::matmul_blas(a, b, c, options);
          cpu::matmul_naive(a, b, c, options);
        });
  });
}

template <class T>
void matmul(device_matrix_view<const T> a, device_matrix_view<const T> b, device_matrix_view<T> c,
            const matmul_options& options) {
  with_memory_errors("matmul", [&] {
    const matmul_extents extents = check_operands(a, b, c, options);
    check_device_call(options.exec);
    const matmul_device device = cuda::describe_matmul_device(options.exec);
    const matmul_choice choice =
        choose_matmul_cuda(extents, sizeof(T), options, device, workspace_limit(options));
    check_workspace(options.workspace, choice.workspace_bytes);
    ask_progress(options.exec, "matmul", c.rows());
    cuda::matmul(a, b, c, options, choice);
  });
}

template <class T>
matmul_plan plan_matmul(index_t m, index_t n, index_t k, const matmul_options& options) {
  return with_memory_errors("plan_matmul", [&] {
    check_options(options);
    if (m < 0 || n < 0 || k < 0) {
      throw invalid_argument(fmt::format(
          "plan_matmul: extents are m = {}, n = {}, k = {}, expected none below 0", m, n, k));
    }
    matmul_plan plan{.used = resolve_backend(options.exec)};
    plan.result_bytes = checked_element_count(m, n, sizeof(T)) * sizeof(T);
    matmul_choice choice;
    if (plan.used == backend::cuda) {
      const matmul_device device = cuda::describe_matmul_device(options.exec);
      plan.device = device.name;
      choice = choose_matmul_cuda({m, n, k}, sizeof(T), options, device, workspace_limit(options));
    } else {
      plan.device = "cpu";
      choice = choose_matmul_cpu(options.variant, cpu::has_blas());
    }
    plan.variant = choice.variant;
    plan.tile_rows = choice.tile_rows;
    plan.tile_cols = choice.tile_cols;
    plan.depth_splits = choice.depth_splits;
    plan.workspace_bytes = choice.workspace_bytes;
    return plan;
  });
}

#define GPU_SIMILARITY_INSTANTIATE_MATMUL(T)                                                   \
  template GPU_SIMILARITY_EXPORT void matmul<T>(matrix_view<const T>, matrix_view<const T>,    \
                                                matrix_view<T>, const matmul_options&);        \
  template GPU_SIMILARITY_EXPORT void matmul<T>(device_matrix_view<const T>,                   \
                                                device_matrix_view<const T>,                   \
                                                device_matrix_view<T>, const matmul_options&); \
  template GPU_SIMILARITY_EXPORT matmul_plan plan_matmul<T>(index_t, index_t, index_t,         \
                                                            const matmul_options&);
GPU_SIMILARITY_INSTANTIATE_MATMUL(float)
GPU_SIMILARITY_INSTANTIATE_MATMUL(double)
#undef GPU_SIMILARITY_INSTANTIATE_MATMUL

}  // namespace detail
}  // namespace gpu::inline v0
