#pragma once
// Cases of the connectivity of soft-threshold networks, for any backend. The oracle raises every
// statistic of the dense result by powl and adds up in long double; those statistics are held to
// oracles of their own in the tests of the measures, and here loosely to a textbook's.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

inline constexpr gpu::network_kind all_networks[] = {gpu::network_kind::unsigned_network,
                                                     gpu::network_kind::signed_network,
                                                     gpu::network_kind::signed_hybrid};

/// Integers in any order, halves, other fractions, twice the same.
inline std::vector<double> mixed_powers() {
  return {6, 1, 0.5, 2.5, 3.3, 20, 1, 30, 12, 100, 0.1, 7.3, 4};
}

inline long double reference_base(double r, gpu::network_kind kind) {
  if (std::isnan(r)) return 0;
  if (kind == gpu::network_kind::signed_network) return (1 + static_cast<long double>(r)) / 2;
  return kind == gpu::network_kind::unsigned_network ? std::fabs(r) : std::max(r, 0.0);
}

/// Whether `sum` is that of the powers of row i of `dense`, within the bound that the header of
/// connectivity_sink says. `self` is the column that is the row itself.
inline bool is_sum_of_powers(double sum, const gpu::matrix<double>& dense, gpu::index_t i,
                             gpu::index_t self, gpu::network_kind kind, double power) {
  if (std::isnan(dense(i, self))) return std::isnan(sum);
  long double wanted = 0;
  long double smallest = 1;
  for (gpu::index_t j = 0; j < dense.cols(); ++j) {
    const long double base = reference_base(dense(i, j), kind);
    if (j == self || base == 0) continue;
    smallest = std::min(smallest, base);
    wanted += std::pow(base, static_cast<long double>(power));
  }
  const double fraction = power - std::floor(power);
  long double units = static_cast<long double>(dense.cols()) / 8 + 2 * power + 8;
  if (fraction != 0 && fraction != 0.5) units += 4 * fraction * std::fabs(std::log2(smallest));
  constexpr long double tiny = std::numeric_limits<double>::min();
  return std::fabs(sum - wanted) <= units * 0x1p-53L * wanted + tiny;
}

/// How many sums are wrong; of many rows every seventh is looked at.
inline gpu::index_t wrong_sums(const gpu::connectivity_table& got,
                               const gpu::matrix<double>& dense) {
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < dense.rows(); i += dense.rows() > 100 ? 7 : 1) {
    for (std::size_t p = 0; p < got.powers.size(); ++p) {
      wrong += !is_sum_of_powers(got.connectivity(i, static_cast<gpu::index_t>(p)), dense, i,
                                 i + got.summary.part_begin, got.network, got.powers[p]);
    }
  }
  return wrong;
}

/// Correlated rows of floats; row 1 is constant, row 4 has a NaN, rows 5 and 6 are equal and row 7
/// is the opposite of row 5, where there are so many.
inline gpu::matrix<float> network_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  auto out = random_matrix<float>(rows, cols, seed);
  for (gpu::index_t i = 3; i < rows; i += 3) {
    for (gpu::index_t k = 0; k < cols; ++k) out(i, k) = out(0, k) + 0.7F * out(i, k);
  }
  for (gpu::index_t k = 0; k < cols; ++k) {
    if (rows > 1) out(1, k) = 2;
    if (rows > 7) {
      out(6, k) = out(5, k);
      out(7, k) = -out(5, k);
    }
  }
  if (rows > 4) out(4, cols / 2) = std::numeric_limits<float>::quiet_NaN();
  return out;
}

inline gpu::pair_options network_options(const pair_target& target) {
  gpu::pair_options out = target.options();
  out.nans = gpu::nan_policy::propagate;
  return out;
}

inline bool same_bytes_of(const gpu::matrix<double>& a, const gpu::matrix<double>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  const auto size = static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(double);
  return size == 0 || std::memcmp(a.data(), b.data(), size) == 0;
}

/// Every measure, kind and power at sizes around the lanes, blocks and tiles.
inline void sums_are_those_of_the_definition(gpu::measure what, const pair_target& target) {
  GPU_TEST_INFO(target);
  INFO(gpu::to_string(what));
  const gpu::pair_options options = network_options(target);
  for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
           {1, 9}, {2, 9}, {8, 5}, {65, 30}, {257, 40}, {530, 21}}) {
    INFO(rows << " x " << cols);
    const auto data = network_rows(rows, cols, 11);
    const auto dense = gpu::all_pairs(what, data, options, gpu::dense_sink{});
    for (const gpu::network_kind kind : all_networks) {
      INFO(gpu::to_string(kind));
      const auto got = gpu::all_pairs(
          what, data, options, gpu::connectivity_sink{.powers = mixed_powers(), .network = kind});
      CHECK(got.powers == mixed_powers());
      CHECK(got.network == kind);
      CHECK(got.summary.nan_rows.size() == (rows > 4 ? 1U : 0U));
      CHECK(got.summary.pairs_tested == dense.summary.pairs_tested);
      REQUIRE(got.connectivity.rows() == rows);
      REQUIRE(got.connectivity.cols() == static_cast<gpu::index_t>(mixed_powers().size()));
      CHECK(wrong_sums(got, dense) == 0);
    }
  }
}

/// By the textbook's correlation, which shares no code with the library.
inline void sums_are_those_of_the_textbook(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(90, 20, 3);
  const statistic_table r = reference_pearson(const_view(data));
  const auto got =
      gpu::pearson_all_pairs(data, target.options(), gpu::connectivity_sink{.powers = {1, 6, 9}});
  for (std::size_t i = 0; i < r.size(); ++i) {
    for (std::size_t p = 0; p < 3; ++p) {
      double wanted = 0;
      for (std::size_t j = 0; j < r.size(); ++j) {
        if (i != j) wanted += std::pow(std::fabs(r[i][j]), got.powers[p]);
      }
      const double k = got.connectivity(static_cast<gpu::index_t>(i), static_cast<gpu::index_t>(p));
      CHECK(std::fabs(k - wanted) <= 1e-12 * wanted);
    }
  }
}

/// 64 powers, in several launches of a device; each as if it were asked for alone.
inline void many_powers_are_each_of_their_own(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = network_rows(150, 33, 5);
  std::vector<double> powers;
  for (int p = 64; p > 0; --p) powers.push_back(p % 3 == 0 ? p / 2.0 : p);
  const auto all = gpu::pearson_all_pairs(data, network_options(target),
                                          gpu::connectivity_sink{.powers = powers});
  for (std::size_t p = 0; p < powers.size(); p += 7) {
    const auto one = gpu::pearson_all_pairs(data, network_options(target),
                                            gpu::connectivity_sink{.powers = {powers[p]}});
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < 150; ++i) {
      const double got = all.connectivity(i, static_cast<gpu::index_t>(p));
      const double wanted = one.connectivity(i, 0);
      wrong += std::memcmp(&got, &wanted, sizeof got) != 0;
    }
    CHECK(wrong == 0);
  }
}

/// The panels of the parts are the rows of the whole.
inline void parts_join_to_the_whole(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = network_rows(301, 25, 8);
  const gpu::connectivity_sink sink{.powers = {1, 6, 2.5},
                                    .network = gpu::network_kind::signed_network};
  const auto whole = gpu::spearman_all_pairs(data, network_options(target), sink);
  const gpu::index_t of = 4;
  gpu::index_t row = 0;
  for (gpu::index_t index = 0; index < of; ++index) {
    gpu::pair_options options = network_options(target);
    options.part = {.index = index, .of = of};
    const auto part = gpu::spearman_all_pairs(data, options, sink);
    CHECK(part.summary.part_begin == row);
    for (gpu::index_t i = 0; i < part.connectivity.rows(); ++i, ++row) {
      CHECK(std::memcmp(part.connectivity.row(i).data(), whole.connectivity.row(row).data(),
                        3 * sizeof(double)) == 0);
    }
  }
  CHECK(row == 301);
}

/// Missing values, pair by pair: pairs without a statistic add nothing.
inline void missing_values_add_nothing(const pair_target& target,
                                       std::initializer_list<gpu::measure> measures) {
  GPU_TEST_INFO(target);
  auto data = network_rows(120, 12, 17);
  for (gpu::index_t i = 10; i < 60; i += 2) {
    for (gpu::index_t k = 0; k < 7; ++k) {
      data(i, (i + k) % 12) = std::numeric_limits<float>::quiet_NaN();
    }
  }
  gpu::pair_options options = target.options();
  options.nans = gpu::nan_policy::pairwise;
  options.min_observations = 4;
  for (const gpu::measure what : measures) {
    const auto dense = gpu::all_pairs(what, data, options, gpu::dense_sink{});
    const auto got =
        gpu::all_pairs(what, data, options, gpu::connectivity_sink{.powers = {1, 6, 0.5}});
    CHECK(std::count_if(dense.row(10).begin(), dense.row(10).end(),
                        [](double r) { return std::isnan(r); }) > 1);
    CHECK(wrong_sums(got, dense) == 0);
  }
}

}  // namespace gpu_test
