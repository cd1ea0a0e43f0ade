// How exact covariates and weights are: equal weights change no bit, and the error of a partial
// correlation is within the bound of docs/partial.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gpu/similarity.hpp>

#include "reference/column_reference.hpp"
#include "support/catch.hpp"
#include "support/pair_cases.hpp"
#include "support/same_or_nan.hpp"

namespace {

using gpu::index_t;

gpu::pair_options on_cpu(gpu::pair_variant variant) {
  return {.variant = variant, .exec = {.target = gpu::backend::cpu}};
}

gpu::matrix<double> with_offset(gpu::matrix<double> table, double offset) {
  for (index_t i = 0; i < table.rows(); ++i) {
    for (double& x : table.row(i)) x += offset;
  }
  return table;
}

double length_of(const gpu_test::reference_row& row) {
  long double sum = 0;
  for (const long double v : row) sum += v * v;
  return static_cast<double>(std::sqrt(sum));
}

gpu_test::reference_row centred(const gpu_test::reference_row& row) {
  long double sum = 0;
  for (const long double v : row) sum += v;
  gpu_test::reference_row out = row;
  for (long double& v : out) v -= sum / static_cast<long double>(row.size());
  return out;
}

}  // namespace

TEST_CASE("Equal weights give the bits without weights", "[columns]") {
  const auto variant = GENERATE(gpu::pair_variant::tiled, gpu::pair_variant::naive);
  const gpu::pair_options plain = on_cpu(variant);
  for (const index_t cols : {3, 7, 31, 64, 130, 1025}) {
    const auto covariate = gpu_test::random_matrix<double>(1, cols, 77);
    for (const double offset : {0.0, 1e9}) {
      const auto data = with_offset(
          gpu_test::random_matrix<double>(9, cols, static_cast<std::uint64_t>(cols)), offset);
      for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::cosine}) {
        for (const bool is_partial : {false, true}) {
          if (is_partial && (what == gpu::measure::cosine || cols < 4)) continue;
          gpu::pair_options options = plain;
          if (is_partial) options.covariates = covariate.view();
          const auto wanted = gpu::all_pairs(what, data, options);
          for (const double weight : {1.0, 3.0, 0.1, 4.0, 1e-300, 7e200, 5e-324}) {
            INFO(gpu::to_string(what) << ", " << cols << " columns, offset " << offset
                                      << ", weight " << weight << ", partial " << is_partial);
            const std::vector<double> weights(static_cast<std::size_t>(cols), weight);
            options.column_weights = weights;
            CHECK(gpu_test::same_bits(gpu::all_pairs(what, data, options), wanted));
          }
        }
      }
    }
  }
}

TEST_CASE("Weights that are equal or 0 have the bits of ones and zeros", "[columns]") {
  const auto data = gpu_test::random_matrix<double>(9, 31, 5);
  std::vector<double> weights(31, 1.0);
  for (std::size_t k = 0; k < weights.size(); k += 4) weights[k] = 0.0;
  gpu::pair_options options = on_cpu(gpu::pair_variant::automatic);
  options.column_weights = weights;
  const auto wanted = gpu::pearson_all_pairs(data, options);
  for (double& w : weights) w *= 0.3;
  CHECK(gpu_test::same_bits(gpu::pearson_all_pairs(data, options), wanted));
}

// Rows that the covariates explain except for a share from 1 to 1e-9 of their length.
TEST_CASE("The error of a partial correlation is within its bound", "[columns]") {
  constexpr double u = 0x1p-53;
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  double largest = 0;  // of error / bound
  for (int trial = 0; trial < 60; ++trial) {
    const index_t cols =
        std::vector<index_t>{8, 30, 257, 1000}[static_cast<std::size_t>(trial % 4)];
    const index_t covariates = 1 + trial % 3;
    // The second covariate follows the first more and more closely.
    gpu::matrix<double> z(covariates, cols);
    for (index_t i = 0; i < covariates; ++i) {
      const double apart = i == 1 ? std::pow(10.0, -(trial % 5)) : 1.0;
      for (index_t k = 0; k < cols; ++k) {
        z(i, k) = apart * normal(engine) + (i == 1 ? z(0, k) : 0.0);
      }
    }
    constexpr index_t rows = 8;
    gpu::matrix<double> x(rows, cols);
    const double offset = trial % 2 == 0 ? 0.0 : 1e3;
    for (index_t i = 0; i < rows; ++i) {
      const double left = std::pow(10.0, -static_cast<double>((i + trial) % 10));
      std::vector<double> by(static_cast<std::size_t>(covariates));
      for (double& b : by) b = normal(engine);
      for (index_t k = 0; k < cols; ++k) {
        double value = offset + left * normal(engine);
        for (index_t c = 0; c < covariates; ++c) value += by[static_cast<std::size_t>(c)] * z(c, k);
        x(i, k) = value;
      }
    }
    gpu::pair_options options = on_cpu(gpu::pair_variant::automatic);
    options.covariates = z.view();
    const auto got = gpu::pearson_all_pairs(x, options);

    gpu_test::reference_columns given;
    given.weights.assign(static_cast<std::size_t>(cols), 1.0L);
    for (const auto& row : gpu_test::reference_rows<double>(z.view(), false)) {
      given.covariates.push_back(centred(row));
    }
    // The least share of a covariate that the others leave of it.
    double apart = 1;
    for (std::size_t c = 0; c < given.covariates.size(); ++c) {
      gpu_test::reference_columns others = given;
      others.covariates.erase(others.covariates.begin() + static_cast<std::ptrdiff_t>(c));
      const auto own = gpu_test::reference_residual(given.covariates[c], others);
      apart = std::min(apart, length_of(own) / length_of(given.covariates[c]));
    }
    std::vector<gpu_test::reference_row> left;
    std::vector<double> error;
    for (const auto& row : gpu_test::reference_rows<double>(x.view(), false)) {
      // Twice, as one elimination leaves its own rounding.
      left.push_back(
          gpu_test::reference_residual(gpu_test::reference_residual(centred(row), given), given));
      const double share = length_of(left.back()) / length_of(centred(row));
      const auto q = static_cast<double>(covariates);
      error.push_back(4 * (q + 2) * std::sqrt(q) * u / (share * apart));
    }
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = i + 1; j < rows; ++j) {
        const auto a = static_cast<std::size_t>(i);
        const auto b = static_cast<std::size_t>(j);
        long double dot = 0;
        for (std::size_t k = 0; k < left[a].size(); ++k) dot += left[a][k] * left[b][k];
        const double wanted = static_cast<double>(dot / length_of(left[a]) / length_of(left[b]));
        const double bound = error[a] + error[b] + 4e-15;
        INFO("trial " << trial << ", rows " << i << " and " << j);
        CHECK(std::abs(got(i, j) - wanted) <= bound);
        largest = std::max(largest, std::abs(got(i, j) - wanted) / bound);
      }
    }
  }
  INFO("largest share of the bound: " << largest);
  CHECK(largest > 0.01);  // the bound says something
}
