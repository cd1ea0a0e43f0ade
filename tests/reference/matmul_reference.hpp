#pragma once
// The textbook product in long double, with what error bounds are made of. Slow on purpose.

#include <cmath>
#include <vector>

#include <gpu/matmul.hpp>

namespace gpu_test {

/// What one element of C should be, and the sums that bound its error.
struct matmul_element_reference {
  long double value = 0;
  long double absolute_sum = 0;  // sum |a_il b_lj|
  long double norms = 0;         // |a_i| |b_j|
};

/// Element (i, j) of op(A) op(B).
template <class T>
matmul_element_reference matmul_reference(gpu::matrix_view<const T> a, gpu::matrix_view<const T> b,
                                          const gpu::matmul_options& options, gpu::index_t i,
                                          gpu::index_t j) {
  const bool a_flipped = options.a == gpu::transposition::transpose;
  const bool b_flipped = options.b == gpu::transposition::transpose;
  const gpu::index_t depth = a_flipped ? a.rows() : a.cols();
  matmul_element_reference out;
  long double a_squares = 0;
  long double b_squares = 0;
  for (gpu::index_t l = 0; l < depth; ++l) {
    const long double x = a_flipped ? a(l, i) : a(i, l);
    const long double y = b_flipped ? b(j, l) : b(l, j);
    out.value += x * y;
    out.absolute_sum += std::fabs(x * y);
    a_squares += x * x;
    b_squares += y * y;
  }
  out.norms = std::sqrt(a_squares) * std::sqrt(b_squares);
  return out;
}

/// The documented bound on |error of c_ij|.
template <class T>
long double matmul_error_bound(const matmul_element_reference& element, gpu::index_t k,
                               gpu::matmul_variant variant) {
  const long double unit = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  const auto depth = static_cast<long double>(k);
  const long double slack = 1e-30L;  // for the reference's own rounding of exact zeros
  if (variant == gpu::matmul_variant::tensor) {
    return (depth / 64 + 48) * unit * element.norms + slack;
  }
  return depth * unit / (1 - depth * unit) * element.absolute_sum + slack;
}

}  // namespace gpu_test
