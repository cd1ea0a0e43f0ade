#include "cuda/matmul/matmul.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "base/round_up.hpp"
#include "cuda/transfer/host_staging.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/matmul/kernels.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::cuda {
namespace {

namespace policy = kernels::matmul_policy;

template <class T>
kernels::matmul_operand<T> operand_of(device_matrix_view<const T> x, transposition how) {
  if (how == transposition::none) return {x.data(), x.row_stride(), 1};
  return {x.data(), 1, x.row_stride()};
}

template <class T>
kernels::matmul_problem<T> problem_of(device_matrix_view<const T> a, device_matrix_view<const T> b,
                                      device_matrix_view<T> c, const matmul_options& options) {
  return {.a = operand_of(a, options.a),
          .b = operand_of(b, options.b),
          .c = c.data(),
          .c_stride = c.row_stride(),
          .m = c.rows(),
          .n = c.cols(),
          .k = options.a == transposition::transpose ? a.rows() : a.cols()};
}

template <class T>
constexpr index_t wide_elements = static_cast<index_t>(16 / sizeof(T));

template <class T>
bool has_wide_rows(device_matrix_view<const T> x) {
  return reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0 &&
         x.row_stride() % wide_elements<T> == 0 && x.cols() % wide_elements<T> == 0;
}

/// `x` itself where its rows can be read 16 bytes at a time, else a copy at `to` whose rows can.
template <class T>
device_matrix_view<const T> with_wide_rows(device_matrix_view<const T> x, std::byte*& to,
                                           cudaStream_t stream) {
  if (has_wide_rows(x)) return x;
  const auto pitch = static_cast<std::size_t>(
      round_up(x.cols() * static_cast<index_t>(sizeof(T)), policy::pitch_bytes));
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy2DAsync(to, pitch, x.data(), static_cast<std::size_t>(x.row_stride()) * sizeof(T),
                        static_cast<std::size_t>(x.cols()) * sizeof(T),
                        static_cast<std::size_t>(x.rows()), cudaMemcpyDeviceToDevice, stream));
  const device_matrix_view<const T> copy(reinterpret_cast<const T*>(to), x.rows(), x.cols(),
                                         static_cast<index_t>(pitch / sizeof(T)));
  to += pitch * static_cast<std::size_t>(x.rows());
  return copy;
}

template <class T>
void run_pitched(device_matrix_view<const T> a, device_matrix_view<const T> b,
                 device_matrix_view<T> c, const matmul_options& options,
                 const detail::matmul_choice& choice, cudaStream_t stream) {
  const bool in_place = has_wide_rows(a) && has_wide_rows(b);
  const scratch copies(options.workspace, in_place ? 0 : choice.workspace_bytes, stream);
  std::byte* next = copies.data();
  const auto wide_a = with_wide_rows(a, next, stream);
  const auto wide_b = with_wide_rows(b, next, stream);
  kernels::launch_matmul_pitched(problem_of(wide_a, wide_b, c, options), stream);
}

template <class T>
void run(device_matrix_view<const T> a, device_matrix_view<const T> b, device_matrix_view<T> c,
         const matmul_options& options, const detail::matmul_choice& choice, cudaStream_t stream) {
  const kernels::matmul_problem<T> problem = problem_of(a, b, c, options);
  switch (choice.variant) {
    case matmul_variant::naive:
      return kernels::launch_matmul_naive(problem, stream);
    case matmul_variant::pitched:
      return run_pitched(a, b, c, options, choice, stream);
    case matmul_variant::shared_tiled:
      return kernels::launch_matmul_shared_tiled(problem, stream);
    case matmul_variant::tensor:
      if constexpr (sizeof(T) == sizeof(float)) {
        const scratch packed(options.workspace, choice.workspace_bytes, stream);
        return kernels::launch_matmul_tensor(problem, packed.data(), choice.wgmma_columns,
                                             choice.tile, stream);
      } else {
        return kernels::launch_matmul_tensor_double(problem, choice.tile, stream);
      }
    default:
      break;
  }
  const scratch parts(options.workspace, choice.workspace_bytes, stream);
  kernels::launch_matmul_register_tiled(problem, choice.tile, choice.depth_splits,
                                        reinterpret_cast<T*>(parts.data()), nullptr, stream);
}

/// C = beta C.
template <class T>
void scale(device_matrix_view<T> c, T beta, cudaStream_t stream) {
  if (beta == T{0}) {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemset2DAsync(c.data(), static_cast<std::size_t>(c.row_stride()) * sizeof(T), 0,
                          static_cast<std::size_t>(c.cols()) * sizeof(T),
                          static_cast<std::size_t>(c.rows()), stream));
  } else {
    kernels::launch_matmul_combine<T>(nullptr, 0, T{0}, beta, c.data(), c.row_stride(), c.rows(),
                                      c.cols(), stream);
  }
}

/// C = alpha P + beta C with P = op(A) op(B): in C itself where C is not read.
template <class T>
void run_scaled(device_matrix_view<const T> a, device_matrix_view<const T> b,
                device_matrix_view<T> c, const matmul_options& options,
                const detail::matmul_choice& choice, cudaStream_t stream) {
  const auto alpha = static_cast<T>(options.alpha);
  const auto beta = static_cast<T>(options.beta);
  const auto combine = [&](device_matrix_view<T> product) {
    kernels::launch_matmul_combine<T>(product.data(), product.row_stride(), alpha, beta, c.data(),
                                      c.row_stride(), c.rows(), c.cols(), stream);
  };
  if (choice.product_bytes == 0) {
    run(a, b, c, options, choice, stream);
    return combine(c);
  }
  const scratch memory(options.workspace, choice.workspace_bytes, stream);
  detail::matmul_choice rest = choice;
  rest.workspace_bytes -= choice.product_bytes;
  rest.product_bytes = 0;
  matmul_options in_rest = options;
  in_rest.workspace = {memory.data() + choice.product_bytes,
                       static_cast<index_t>(rest.workspace_bytes)};
  const device_matrix_view<T> product(reinterpret_cast<T*>(memory.data()), c.rows(), c.cols());
  run(a, b, product, in_rest, rest, stream);
  combine(product);
}

/// Device memory for a matrix from the stream's pool, copied to and from row by row. Rows begin at
/// multiples of `pitch` bytes.
template <class T>
class staged_matrix {
 public:
  staged_matrix(index_t rows, index_t cols, std::size_t pitch, cudaStream_t stream)
      : rows_(rows),
        cols_(cols),
        stride_(round_up(cols, static_cast<index_t>(pitch / sizeof(T)))),
        memory_(static_cast<std::size_t>(rows * stride_), stream) {}

  [[nodiscard]] device_matrix_view<T> view() const {
    return {memory_.data(), rows_, cols_, stride_};
  }
  void copy_from(const T* from, index_t stride, cudaStream_t stream) const {
    copy(memory_.data(), stride_, from, stride, cudaMemcpyHostToDevice, stream);
  }
  void copy_to(T* to, index_t stride, cudaStream_t stream) const {
    copy(to, stride, memory_.data(), stride_, cudaMemcpyDeviceToHost, stream);
  }

 private:
  void copy(T* to, index_t to_stride, const T* from, index_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    if (rows_ == 0 || cols_ == 0) return;
    const auto bytes = [](index_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(to, bytes(to_stride), from, bytes(from_stride),
                                                bytes(cols_), static_cast<std::size_t>(rows_), kind,
                                                stream));
  }

  index_t rows_;
  index_t cols_;
  index_t stride_;
  device_buffer<T> memory_;
};

/// How many rows of C go at once, and what runs for them.
struct panel_plan {
  index_t rows = 0;
  detail::matmul_choice choice;
};

template <class T>
panel_plan plan_panels(const detail::matmul_extents& e, const matmul_options& options,
                       const detail::matmul_device& device) {
  constexpr auto any = std::numeric_limits<std::size_t>::max();
  if (e.m == 0 || e.n == 0) return {0, choose_matmul_cuda(e, sizeof(T), options, device, any)};
  const auto bytes = [](index_t rows, index_t cols) {
    return static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(
               round_up(cols * static_cast<index_t>(sizeof(T)), policy::pitch_bytes));
  };
  const bool flipped = options.a == transposition::transpose;
  const auto operands = [&](index_t rows) {
    return (flipped ? bytes(e.k, rows) : bytes(rows, e.k)) + bytes(rows, e.n);
  };
  // What a variant that was asked for takes beside the operands.
  const auto scratch = [&](index_t rows) {
    return choose_matmul_cuda({rows, e.n, e.k}, sizeof(T), options, device, any).workspace_bytes;
  };
  // `automatic` does with what is left; a variant that was asked for gets what it needs.
  const bool decides = options.variant == matmul_variant::automatic ||
                       options.variant == matmul_variant::register_tiled;
  detail::staging_job job{.what = "matmul of one row of c", .rows = e.m};
  job.fixed_bytes = options.b == transposition::transpose ? bytes(e.n, e.k) : bytes(e.k, e.n);
  job.batch_bytes = [&](index_t rows) {
    const std::size_t product =
        detail::separate_product_bytes({rows, e.n, e.k}, sizeof(T), options);
    return operands(rows) + (decides ? product : scratch(rows));
  };
  const detail::staging_plan plan = plan_host_staging(job, options.exec);
  const std::size_t left = plan.room - job.fixed_bytes - operands(plan.batch_rows);
  return {plan.batch_rows,
          choose_matmul_cuda({plan.batch_rows, e.n, e.k}, sizeof(T), options, device, left)};
}

}  // namespace

detail::matmul_device describe_matmul_device(const execution& exec) {
  static std::mutex mutex;
  static std::map<int, detail::matmul_device> known;
  const int ordinal = device_of(exec);
  const std::lock_guard lock(mutex);
  const auto found = known.find(ordinal);
  if (found != known.end()) return found->second;
  const device_info info = select_device(exec);
  const loaded_code& code = code_of(info.ordinal);
  int shared_bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(
      cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, info.ordinal));
  return known[ordinal] = {.name = info.name,
                           .compute = info.compute_major * 10 + info.compute_minor,
                           .code = code.capability,
                           .multiprocessors = info.multiprocessors,
                           .shared_bytes = static_cast<std::size_t>(shared_bytes),
                           .has_wgmma = code.has_warpgroups};
}

template <class T>
void matmul(device_matrix_view<const T> a, device_matrix_view<const T> b, device_matrix_view<T> c,
            const matmul_options& options, const detail::matmul_choice& choice) {
  if (c.empty()) return;
  const device_guard guard(device_of(options.exec));
  cudaStream_t stream = options.exec.stream.get();
  const auto alpha = static_cast<T>(options.alpha);
  const auto beta = static_cast<T>(options.beta);
  if (a.empty() || alpha == T{0}) return scale(c, beta, stream);  // k = 0, or as if it were
  const auto how = alpha != T{1} || beta != T{0} ? run_scaled<T> : run<T>;
  how(a, b, c, options, choice, stream);
}

template <class T>
void matmul(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
            const matmul_options& options) {
  const detail::matmul_device device = describe_matmul_device(options.exec);
  const device_guard guard(device_of(options.exec));
  const bool flipped = options.a == transposition::transpose;
  const detail::matmul_extents extents{c.rows(), c.cols(), flipped ? a.rows() : a.cols()};
  const panel_plan panels = plan_panels<T>(extents, options, device);
  if (c.empty()) return;
  matmul_options on_stream = options;
  on_stream.workspace = {};
  if (options.exec.stream.get() == nullptr) on_stream.exec.stream = cudaStreamPerThread;
  cudaStream_t stream = on_stream.exec.stream.get();

  const std::size_t pitch =
      panels.choice.variant == matmul_variant::pitched ? policy::pitch_bytes : 16;
  const staged_matrix<T> whole_b(b.rows(), b.cols(), pitch, stream);
  whole_b.copy_from(b.data(), b.row_stride(), stream);
  for (index_t i = 0; i < c.rows(); i += panels.rows) {
    const index_t rows = std::min(panels.rows, c.rows() - i);
    const staged_matrix<T> some_a(flipped ? extents.k : rows, flipped ? rows : extents.k, pitch,
                                  stream);
    const staged_matrix<T> some_c(rows, c.cols(), pitch, stream);
    some_a.copy_from(flipped ? a.data() + i : a.row(i), a.row_stride(), stream);
    if (static_cast<T>(options.beta) != T{0}) some_c.copy_from(c.row(i), c.row_stride(), stream);
    const device_matrix_view<const T> a_view = some_a.view();
    const device_matrix_view<const T> b_view = whole_b.view();
    matmul(a_view, b_view, some_c.view(), on_stream, panels.choice);
    some_c.copy_to(c.row(i), c.row_stride(), stream);
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
}

#define GPU_SIMILARITY_INSTANTIATE_MATMUL(T)                                       \
  template void matmul(matrix_view<const T>, matrix_view<const T>, matrix_view<T>, \
                       const matmul_options&);                                     \
  template void matmul(device_matrix_view<const T>, device_matrix_view<const T>,   \
                       device_matrix_view<T>, const matmul_options&,               \
                       const detail::matmul_choice&);
GPU_SIMILARITY_INSTANTIATE_MATMUL(float)
GPU_SIMILARITY_INSTANTIATE_MATMUL(double)

}  // namespace gpu::cuda
