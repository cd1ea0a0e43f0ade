#pragma once
// Seeded random inputs. Every test draws from here, so a failure can be repeated from its seed.

#include <cstdint>
#include <random>
#include <type_traits>

#include <gpu/matrix.hpp>

namespace gpu_test {

/// Continuous values, normal; integers uniform over their whole range.
template <class T>
gpu::matrix<T> random_matrix(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  gpu::matrix<T> out(rows, cols);
  std::mt19937_64 engine(seed);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = 0; j < cols; ++j) {
      if constexpr (std::is_floating_point_v<T>) {
        out(i, j) = static_cast<T>(std::normal_distribution<double>()(engine));
      } else {
        out(i, j) = static_cast<T>(engine());
      }
    }
  }
  return out;
}

/// Heavy ties: per row a random share of zeros up to `most_zeros`, else integers 1 .. `largest`.
template <class T>
gpu::matrix<T> tied_matrix(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed,
                           double most_zeros = 0.9, int largest = 10) {
  gpu::matrix<T> out(rows, cols);
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::uniform_int_distribution<int> count(1, largest);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double zeros = uniform(engine) * most_zeros;
    for (gpu::index_t j = 0; j < cols; ++j) {
      out(i, j) = static_cast<T>(uniform(engine) < zeros ? 0 : count(engine));
    }
  }
  return out;
}

}  // namespace gpu_test
