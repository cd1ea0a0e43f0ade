#pragma once
// Tables that the cases of areas are run on, and how their statistics are compared.

#include <algorithm>
#include <cstdint>

#include <gpu/matrix.hpp>

#include "support/generators.hpp"
#include "support/same_or_nan.hpp"

namespace gpu_test {

/// Ties, relations between rows of both tables, and some constant rows.
template <class T>
gpu::matrix<T> area_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  auto out = tied_matrix<T>(rows, cols, seed, 0.6, 100);
  const auto common = tied_matrix<T>(7, cols, 77, 0.4, 100);
  for (gpu::index_t i = 0; i < rows; i += 3) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      if ((i * 5 + k) % 4 != 0) out(i, k) = common(i % 7, k);
    }
  }
  for (gpu::index_t i = 4; i < rows; i += 29) std::fill_n(out.data() + i * cols, cols, T{3});
  return out;
}

}  // namespace gpu_test
