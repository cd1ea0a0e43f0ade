#include <gpu/binary_matmul.hpp>

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/memory_errors.hpp"
#include "cpu/binary_matmul/binary_matmul.hpp"
#include "cuda/binary_matmul/binary_matmul.hpp"
#include "plan/binary_matmul_variants.hpp"

namespace gpu::inline v0 {
namespace {

constexpr index_t most_columns = std::numeric_limits<std::int32_t>::max();

void check_options(const binary_matmul_options& options) {
  detail::check_enumerator("options.product", options.product, bit_product::and_count);
  detail::check_enumerator("options.variant", options.variant, binary_matmul_variant::hopper);
  detail::check_execution(options.exec);
  detail::check_one_device(options.exec);
}

void check_depth(index_t k) {
  if (k > most_columns) {
    throw invalid_argument(
        fmt::format("binary_matmul: a has {} columns, expected at most {}", k, most_columns));
  }
}

template <class View>
void check_operands(const View& a, const View& b, const binary_matmul_options& options) {
  check_options(options);
  if (a.cols() != b.cols()) {
    throw invalid_argument(
        fmt::format("binary_matmul: a is [{}, {}] and b is [{}, {}], expected as many columns",
                    a.rows(), a.cols(), b.rows(), b.cols()));
  }
  check_depth(a.cols());
}

// The backend and the variant that a call on [m, k] and [n, k] runs.
binary_matmul_plan choose(index_t m, index_t n, index_t k, const binary_matmul_options& options,
                          backend used) {
  binary_matmul_plan plan{.used = used};
  detail::binary_matmul_shape shape{.m = m, .n = n, .k = k};
  if (used == backend::cuda) shape = cuda::on_device_of(shape, options.exec);
  plan.variant = detail::choose_binary_matmul_variant(used, options.variant, shape);
  if (used == backend::cuda) {
    plan.workspace_bytes = cuda::binary_matmul_workspace(m, n, k, plan.variant);
  }
  return plan;
}

}  // namespace

namespace detail {

void check_bit_matrix_extents(const void* words, index_t rows, index_t cols, index_t row_words) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("bit matrix view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (row_words < bit_words(cols)) {
    throw invalid_argument(
        fmt::format("bit matrix view: row_words is {}, expected at least the {} of {} columns",
                    row_words, bit_words(cols), cols));
  }
  if (words == nullptr && rows > 0 && cols > 0) {
    throw invalid_argument(
        fmt::format("bit matrix view: words is null, expected {} x {} bits", rows, cols));
  }
}

template <class T>
bit_matrix pack_bits(matrix_view<const T> data, T threshold, const execution& exec) {
  return with_memory_errors("pack_bits", [&] {
    check_host_call(exec);
    const backend used = resolve_backend(exec);
    bit_matrix out(data.rows(), data.cols());
    if (data.empty()) return out;
    run_on(
        used, exec, "pack_bits", data.rows(),
        [&] { cuda::pack_bits(data, out.view(), threshold, exec); },
        [&] { cpu::pack_bits(data, out.view(), threshold, exec.cpu_threads); });
    return out;
  });
}

template <class T>
void pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits, T threshold,
               const execution& exec) {
  with_memory_errors("pack_bits", [&] {
    check_one_device(exec);
    check_device_call(exec);
    if (bits.rows() != data.rows() || bits.cols() != data.cols()) {
      throw invalid_argument(fmt::format("pack_bits: bits is [{}, {}], expected [{}, {}]",
                                         bits.rows(), bits.cols(), data.rows(), data.cols()));
    }
    ask_progress(exec, "pack_bits", data.rows());
    cuda::pack_bits(data, bits, threshold, exec);
  });
}

#define GPU_SIMILARITY_INSTANTIATE_PACK_BITS(T)                                   \
  template GPU_SIMILARITY_EXPORT bit_matrix pack_bits<T>(matrix_view<const T>, T, \
                                                         const execution&);       \
  template GPU_SIMILARITY_EXPORT void pack_bits<T>(                               \
      device_matrix_view<const T>, mutable_device_bit_matrix_view, T, const execution&);
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int8_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int16_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int32_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::uint8_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::uint16_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(float)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(double)
#undef GPU_SIMILARITY_INSTANTIATE_PACK_BITS

}  // namespace detail

matrix<std::int32_t> binary_matmul(bit_matrix_view a, bit_matrix_view b,
                                   const binary_matmul_options& options) {
  return detail::with_memory_errors("binary_matmul", [&] {
    check_operands(a, b, options);
    detail::check_no_stream(options.exec);
    const binary_matmul_plan plan =
        choose(a.rows(), b.rows(), a.cols(), options, resolve_backend(options.exec));
    matrix<std::int32_t> out(a.rows(), b.rows());
    detail::run_on(
        plan.used, options.exec, "binary_matmul", a.rows(),
        [&] { cuda::binary_matmul(a, b, out.view(), plan.variant, options); },
        [&] { cpu::binary_matmul(a, b, out.view(), options.product, options.exec); });
    return out;
  });
}

void binary_matmul(device_bit_matrix_view a, device_bit_matrix_view b,
                   device_matrix_view<std::int32_t> out, const binary_matmul_options& options) {
  detail::with_memory_errors("binary_matmul", [&] {
    check_operands(a, b, options);
    detail::check_device_call(options.exec);
    if (out.rows() != a.rows() || out.cols() != b.rows()) {
      throw invalid_argument(fmt::format("binary_matmul: out is [{}, {}], expected [{}, {}]",
                                         out.rows(), out.cols(), a.rows(), b.rows()));
    }
    const binary_matmul_plan plan = choose(a.rows(), b.rows(), a.cols(), options, backend::cuda);
    detail::check_workspace(options.workspace, plan.workspace_bytes);
    detail::ask_progress(options.exec, "binary_matmul", a.rows());
    cuda::binary_matmul(a, b, out, plan.variant, options);
  });
}

binary_matmul_plan plan_binary_matmul(index_t m, index_t n, index_t k,
                                      const binary_matmul_options& options) {
  return detail::with_memory_errors("plan_binary_matmul", [&] {
    check_options(options);
    if (m < 0 || n < 0 || k < 0) {
      throw invalid_argument(fmt::format(
          "plan_binary_matmul: extents are m = {}, n = {}, k = {}, expected none below 0", m, n,
          k));
    }
    check_depth(k);
    binary_matmul_plan plan = choose(m, n, k, options, resolve_backend(options.exec));
    plan.result_bytes =
        detail::checked_element_count(m, n, sizeof(std::int32_t)) * sizeof(std::int32_t);
    return plan;
  });
}

}  // namespace gpu::inline v0
