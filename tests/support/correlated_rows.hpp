#pragma once
// Seeded rows that move together, as real ones do: common factors that every row follows to its own
// extent, and blocks of rows that share a profile. Independent rows hide what a cut costs that
// keeps one pair in a hundred, or half of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gpu/matrix.hpp>

namespace gpu_test {

struct correlated_shape {
  gpu::index_t rows = 0;
  gpu::index_t cols = 0;
  /// Share of all pairs that lie within a block, in (0, 1]: blocks have this share of the rows.
  double pairs_in_blocks = 0.01;
  /// Share of the variance of a row that the profile of its block explains: the correlation of two
  /// rows of a block is about this, of either sign.
  double block_variance = 0.9;
  /// The largest share of the variance that the common factors explain. Each row draws its own,
  /// uniform up to it; the factors take it before the block does.
  double factor_variance = 0.0;
  int factors = 3;
  /// Distinct values of a row: 0 for none alike, a small number for heavy ties.
  int levels = 0;
  /// Whether the rows of a block lie side by side; else block b has the rows b, b + blocks, ...
  bool blocks_side_by_side = true;
  std::uint64_t seed = 1;
};

/// What a block's share of the rows is, in rows; at least 1.
inline gpu::index_t rows_of_a_block(const correlated_shape& shape) {
  const double share = shape.pairs_in_blocks * static_cast<double>(shape.rows);
  return std::max<gpu::index_t>(1, static_cast<gpu::index_t>(std::llround(share)));
}

/// Values within about -4 and 4; integers are those times 25, or the levels 0 .. levels - 1.
template <class T>
gpu::matrix<T> correlated_matrix(const correlated_shape& shape) {
  std::mt19937_64 engine(shape.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto normals = [&](gpu::index_t rows) {
    std::vector<double> out(static_cast<std::size_t>(rows * shape.cols));
    for (double& x : out) x = normal(engine);
    return out;
  };
  const gpu::index_t in_block = rows_of_a_block(shape);
  const gpu::index_t blocks = (shape.rows + in_block - 1) / in_block;
  const std::vector<double> profiles = normals(blocks);
  const std::vector<double> factors = normals(shape.factors);
  gpu::matrix<T> out(shape.rows, shape.cols);
  std::vector<double> loading(static_cast<std::size_t>(shape.factors));
  for (gpu::index_t i = 0; i < shape.rows; ++i) {
    const gpu::index_t block = shape.blocks_side_by_side ? i / in_block : i % blocks;
    const double from_factors = uniform(engine) * shape.factor_variance;
    const double from_block = (1 - from_factors) * shape.block_variance;
    double square = 0;
    for (double& x : loading) {
      x = normal(engine);
      square += x * x;
    }
    const double scale = square > 0 ? std::sqrt(from_factors / square) : 0;
    const double block_scale = (engine() % 2 == 0 ? 1 : -1) * std::sqrt(from_block);
    const double noise_scale = std::sqrt(1 - from_factors - from_block);
    for (gpu::index_t k = 0; k < shape.cols; ++k) {
      double x = noise_scale * normal(engine) +
                 block_scale * profiles[static_cast<std::size_t>(block * shape.cols + k)];
      for (int f = 0; f < shape.factors; ++f) {
        x += scale * loading[static_cast<std::size_t>(f)] *
             factors[static_cast<std::size_t>(f * shape.cols + k)];
      }
      if (shape.levels > 0) {
        const double level = std::floor((std::erf(x / std::sqrt(2.0)) + 1) / 2 * shape.levels);
        out(i, k) = static_cast<T>(std::clamp(level, 0.0, shape.levels - 1.0));
      } else if constexpr (std::is_floating_point_v<T>) {
        out(i, k) = static_cast<T>(x);
      } else {
        out(i, k) = static_cast<T>(std::lround(25 * x));
      }
    }
  }
  return out;
}

}  // namespace gpu_test
