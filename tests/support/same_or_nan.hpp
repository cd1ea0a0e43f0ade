#pragma once
// Whether two statistics are the same.

#include <algorithm>
#include <bit>
#include <cstdint>

#include <gpu/matrix.hpp>

namespace gpu_test {

inline bool same_or_nan(double a, double b) {
  return a == b || (a != a && b != b);
}

/// Zeros of two signs differ; one NaN is as good as another.
inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}

inline bool same_bits(const gpu::matrix<double>& a, const gpu::matrix<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data(),
                    [](double x, double y) { return same_bits(x, y); });
}

}  // namespace gpu_test
