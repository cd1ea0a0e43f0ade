#pragma once
// Calls of every operation and every kernel of the CUDA backend, each answer checked by the CPU's.
// Which shape, type and options a call has is drawn; soak_cuda draws for minutes, and calls each
// case once at a small size for compute-sanitizer.

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <gpu/similarity.hpp>

#include "soak/dice.hpp"

namespace gpu_test {

/// One way to use the library. Device calls go on `stream`; a call may throw gpu::unsupported where
/// the device or the shape that was drawn does not suit the variant.
struct soak_case {
  std::string name;
  std::function<void(dice&, cudaStream_t stream)> run;
};

std::vector<soak_case> pair_cases();
std::vector<soak_case> row_cases();
std::vector<soak_case> product_cases();
std::vector<soak_case> differential_cases();

/// The largest error of a dense Pearson so far, as a share of its bound.
double largest_dense_error();

/// Where the answers to compare with come from: one thread, beside many that call.
inline gpu::execution by_cpu() {
  return {.target = gpu::backend::cpu, .cpu_threads = 1};
}
/// Of data in device memory.
inline gpu::execution by_cuda(cudaStream_t stream) {
  return {.target = gpu::backend::cuda, .stream = gpu::stream_ref(stream)};
}
/// Of data in host memory.
inline gpu::execution by_cuda() {
  return {.target = gpu::backend::cuda};
}

/// Elements that are the same, NaN equal to NaN.
template <class T>
bool same_values(const T* a, const T* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))) return false;
  }
  return true;
}
template <class T>
bool same_values(const gpu::matrix<T>& a, const gpu::matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         same_values(a.data(), b.data(), static_cast<std::size_t>(a.rows() * a.cols()));
}

}  // namespace gpu_test
