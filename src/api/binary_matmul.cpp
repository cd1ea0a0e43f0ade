#include <gpu/binary_matmul.hpp>

#include <fmt/format.h>

#include <limits>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>

#include "base/built_code.hpp"
#include "base/check_enum.hpp"
#include "cpu/binary_matmul/binary_matmul.hpp"
#include "cuda/binary_matmul/binary_matmul.hpp"
#include "plan/binary_matmul_variants.hpp"

namespace gpu::inline v0 {
namespace {

constexpr index_t most_columns = std::numeric_limits<std::int32_t>::max();

void check_threads(const execution& exec) {
  if (exec.cpu_threads < 0) {
    throw invalid_argument(
        fmt::format("execution.cpu_threads: got {}, expected 0 or more", exec.cpu_threads));
  }
}

void check_device_target(const execution& exec) {
  if (exec.target == backend::cpu) {
    throw invalid_argument("execution.target: got cpu for device memory, expected cuda");
  }
}

void check_depth(index_t k) {
  if (k > most_columns) {
    throw invalid_argument(
        fmt::format("binary_matmul: a has {} columns, expected at most {}", k, most_columns));
  }
}

void check_workspace(device_vector_view<std::byte> workspace, std::size_t needed) {
  if (workspace.empty()) return;
  if (static_cast<std::size_t>(workspace.size()) < needed) {
    throw invalid_argument(fmt::format("options.workspace: got {} bytes, expected at least {}",
                                       workspace.size(), needed));
  }
  if (reinterpret_cast<std::uintptr_t>(workspace.data()) % 256 != 0) {
    throw invalid_argument("options.workspace: not aligned to 256 bytes");
  }
}

template <class View>
void check_operands(const View& a, const View& b, const binary_matmul_options& options) {
  check_threads(options.exec);
  validate::check_enum("options.product", options.product, bit_product::and_count);
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
  const int capability = used == backend::cuda ? cuda::binary_matmul_capability(options.exec) : 0;
  plan.variant = detail::choose_binary_matmul_variant(
      used, options.variant, {m, n, k, capability, detail::has_warpgroup_code});
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
  check_threads(exec);
  const backend used = resolve_backend(exec);
  bit_matrix out(data.rows(), data.cols());
  if (used == backend::cuda) {
    cuda::pack_bits(data, out.view(), threshold, exec);
  } else {
    cpu::pack_bits(data, out.view(), threshold, exec.cpu_threads);
  }
  return out;
}

template <class T>
void pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits, T threshold,
               const execution& exec) {
  check_device_target(exec);
  if (bits.rows() != data.rows() || bits.cols() != data.cols()) {
    throw invalid_argument(fmt::format("pack_bits: bits is [{}, {}], expected [{}, {}]",
                                       bits.rows(), bits.cols(), data.rows(), data.cols()));
  }
  cuda::pack_bits(data, bits, threshold, exec);
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

}  // namespace detail

matrix<std::int32_t> binary_matmul(bit_matrix_view a, bit_matrix_view b,
                                   const binary_matmul_options& options) {
  check_operands(a, b, options);
  const binary_matmul_plan plan =
      choose(a.rows(), b.rows(), a.cols(), options, resolve_backend(options.exec));
  matrix<std::int32_t> out(a.rows(), b.rows());
  if (plan.used == backend::cuda) {
    cuda::binary_matmul(a, b, out.view(), plan.variant, options);
  } else {
    cpu::binary_matmul(a, b, out.view(), options.product, options.exec.cpu_threads);
  }
  return out;
}

void binary_matmul(device_bit_matrix_view a, device_bit_matrix_view b,
                   device_matrix_view<std::int32_t> out, const binary_matmul_options& options) {
  check_operands(a, b, options);
  check_device_target(options.exec);
  if (out.rows() != a.rows() || out.cols() != b.rows()) {
    throw invalid_argument(fmt::format("binary_matmul: out is [{}, {}], expected [{}, {}]",
                                       out.rows(), out.cols(), a.rows(), b.rows()));
  }
  const binary_matmul_plan plan = choose(a.rows(), b.rows(), a.cols(), options, backend::cuda);
  check_workspace(options.workspace, plan.workspace_bytes);
  cuda::binary_matmul(a, b, out, plan.variant, options);
}

binary_matmul_plan plan_binary_matmul(index_t m, index_t n, index_t k,
                                      const binary_matmul_options& options) {
  check_threads(options.exec);
  if (m < 0 || n < 0 || k < 0) {
    throw invalid_argument(fmt::format(
        "plan_binary_matmul: extents are m = {}, n = {}, k = {}, expected none below 0", m, n, k));
  }
  check_depth(k);
  binary_matmul_plan plan = choose(m, n, k, options, resolve_backend(options.exec));
  plan.result_bytes =
      detail::checked_element_count(m, n, sizeof(std::int32_t)) * sizeof(std::int32_t);
  return plan;
}

}  // namespace gpu::inline v0
