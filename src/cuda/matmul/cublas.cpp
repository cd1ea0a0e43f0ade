#include "cuda/matmul/cublas.hpp"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <map>

#include <gpu/error.hpp>

namespace gpu::cuda {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw cuda_error(fmt::format("cuBLAS: {} from {}", cublasGetStatusString(status), call),
                   static_cast<int>(cudaErrorUnknown));
}

class handle {
 public:
  handle() { check(cublasCreate(&handle_), "cublasCreate"); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { static_cast<void>(cublasDestroy(handle_)); }
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

cublasOperation_t operation_of(transposition how) {
  return how == transposition::transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

bool has_cublas() {
  return true;
}

template <class T>
void multiply_by_cublas(device_matrix_view<const T> a, device_matrix_view<const T> b,
                        device_matrix_view<T> c, const matmul_options& options, int device,
                        cudaStream_t stream) {
  thread_local std::map<int, handle> handles;
  cublasHandle_t cublas = handles[device].get();
  check(cublasSetStream(cublas, stream), "cublasSetStream");
  const index_t depth = options.a == transposition::transpose ? a.rows() : a.cols();
  const auto alpha = static_cast<T>(options.alpha);
  const auto beta = static_cast<T>(options.beta);
  // cuBLAS is column-major, which reads a row-major matrix as its transpose: C' = op(B)' op(A)'.
  if constexpr (sizeof(T) == sizeof(float)) {
    check(cublasSgemm_64(cublas, operation_of(options.b), operation_of(options.a), c.cols(),
                         c.rows(), depth, &alpha, b.data(), b.row_stride(), a.data(),
                         a.row_stride(), &beta, c.data(), c.row_stride()),
          "cublasSgemm_64");
  } else {
    check(cublasDgemm_64(cublas, operation_of(options.b), operation_of(options.a), c.cols(),
                         c.rows(), depth, &alpha, b.data(), b.row_stride(), a.data(),
                         a.row_stride(), &beta, c.data(), c.row_stride()),
          "cublasDgemm_64");
  }
}

template void multiply_by_cublas(device_matrix_view<const float>, device_matrix_view<const float>,
                                 device_matrix_view<float>, const matmul_options&, int,
                                 cudaStream_t);
template void multiply_by_cublas(device_matrix_view<const double>, device_matrix_view<const double>,
                                 device_matrix_view<double>, const matmul_options&, int,
                                 cudaStream_t);

}  // namespace gpu::cuda
