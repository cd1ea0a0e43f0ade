#include "cpu/matmul/matmul.hpp"

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/platform/scratch_limit.hpp"

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

/// row = beta row; what stands there is not read for 0.
template <class T>
void scale(T* row, T beta, index_t size) {
  if (beta == T{0}) {
    std::fill_n(row, size, T{0});
  } else if (beta != T{1}) {
    for (index_t j = 0; j < size; ++j) row[j] *= beta;
  }
}

/// body(l) for l in [0, count), each with `work` multiplies; polls the call's progress in between.
template <class Body>
void for_each_polled(index_t count, index_t work, const Body& body) {
  const index_t step = std::max<index_t>(1, (index_t{1} << 22) / std::max<index_t>(work, 1));
  for (index_t l = 0; l < count; ++l) {
    if (l % step == 0) detail::poll_progress();
    body(l);
  }
}

/// row = alpha product + beta row.
template <class T>
void combine(const T* product, T alpha, T beta, T* row, index_t size) {
  for (index_t j = 0; j < size; ++j) row[j] = alpha * product[j] + beta * row[j];
}

}  // namespace

template <class T>
void matmul_naive(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                  const matmul_options& options) {
  const bool a_transposed = options.a == transposition::transpose;
  const bool b_transposed = options.b == transposition::transpose;
  const auto alpha = static_cast<T>(options.alpha);
  const auto beta = static_cast<T>(options.beta);
  const index_t depth = alpha == T{0} ? 0 : a_transposed ? a.rows() : a.cols();
  const index_t a_step = a_transposed ? a.row_stride() : 1;
  // Rows of the product, where C has to be kept until one is complete.
  const bool keeps_c = beta != T{0} && depth > 0;
  const int threads = threads_within(
      options.exec, "matmul on one thread", detail::thread_count(options.exec.cpu_threads),
      {.thread = keeps_c ? static_cast<std::size_t>(c.cols()) * sizeof(T) : 0});
  std::vector<T> products(keeps_c ? static_cast<std::size_t>(threads * c.cols()) : 0);
  const auto fill_row = [&](index_t i, int thread) {
    T* const row = c.row(i);
    if (depth == 0) return scale(row, beta, c.cols());
    const T* const a_row = a_transposed ? a.data() + i : a.row(i);
    T* const out = keeps_c ? products.data() + thread * c.cols() : row;
    if (b_transposed) {
      for_each_polled(c.cols(), depth,
                      [&](index_t j) { out[j] = dot(a_row, a_step, b.row(j), depth); });
    } else {
      std::fill_n(out, c.cols(), T{0});
      for_each_polled(depth, c.cols(),
                      [&](index_t l) { add_scaled(out, a_row[l * a_step], b.row(l), c.cols()); });
    }
    if (keeps_c) {
      combine(out, alpha, beta, row, c.cols());
    } else {
      scale(out, alpha, c.cols());
    }
  };
  detail::parallel_for(c.rows(), threads, fill_row);
}

template void matmul_naive(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                           const matmul_options&);
template void matmul_naive(matrix_view<const double>, matrix_view<const double>,
                           matrix_view<double>, const matmul_options&);

}  // namespace gpu::cpu
