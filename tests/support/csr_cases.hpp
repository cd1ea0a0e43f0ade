#pragma once
// Rows for tests of sparse tables.

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/layout_cases.hpp"

namespace gpu_test {

/// Rows of mixed_rows in which `share` of the values are 0, one row all of them.
template <class T>
gpu::matrix<T> thin_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed,
                         double share = 0.7) {
  gpu::matrix<T> out = mixed_rows<T>(rows, cols, seed);
  std::mt19937_64 engine(seed + 1);
  std::bernoulli_distribution is_zero(share);
  for (gpu::index_t i = 0; i < rows; ++i) {
    // Rows that are equal stay so.
    if (i % 4 == 3) {
      std::copy_n(out.row(i - 2).data(), cols, &out(i, 0));
      continue;
    }
    for (gpu::index_t j = 0; j < cols; ++j) {
      if (i == 6 || is_zero(engine)) out(i, j) = T{};
    }
  }
  return out;
}

}  // namespace gpu_test
