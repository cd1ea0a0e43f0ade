#include "cpu/matmul/matmul.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace gpu::cpu {
namespace {

// row += factor * other: unit stride, so the compiler vectorises it.
template <class T>
void add_scaled(T* row, T factor, const T* other, index_t size) {
  for (index_t j = 0; j < size; ++j) row[j] += factor * other[j];
}

template <class T>
T dot(const T* x, index_t x_stride, const T* y, index_t size) {
  T sum = 0;
  for (index_t l = 0; l < size; ++l) sum += x[l * x_stride] * y[l];
  return sum;
}

}  // namespace

template <class T>
void matmul_naive(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                  const matmul_options& options) {
  const bool a_transposed = options.a == transposition::transpose;
  const bool b_transposed = options.b == transposition::transpose;
  const index_t depth = a_transposed ? a.rows() : a.cols();
  const index_t a_step = a_transposed ? a.row_stride() : 1;
  const int threads = thread_count(options.exec.cpu_threads);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (index_t i = 0; i < c.rows(); ++i) {
    const T* a_row = depth == 0 ? nullptr : (a_transposed ? a.data() + i : a.row(i));
    T* out = c.row(i);
    if (b_transposed) {
      for (index_t j = 0; j < c.cols(); ++j) out[j] = dot(a_row, a_step, b.row(j), depth);
    } else {
      std::fill_n(out, c.cols(), T{0});
      for (index_t l = 0; l < depth; ++l) add_scaled(out, a_row[l * a_step], b.row(l), c.cols());
    }
  }
}

template void matmul_naive(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                           const matmul_options&);
template void matmul_naive(matrix_view<const double>, matrix_view<const double>,
                           matrix_view<double>, const matmul_options&);

}  // namespace gpu::cpu
