#pragma once
// Results of two calls of differential correlation, bit for bit.

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "differential/differences.hpp"
#include "support/catch.hpp"

namespace gpu_test::differences {

inline std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

// But for what ran, and how long.
inline void check_same(const gpu::differential_summary& got,
                       const gpu::differential_summary& wanted) {
  CHECK(got.rows == wanted.rows);
  CHECK(got.first_cols == wanted.first_cols);
  CHECK(got.second_cols == wanted.second_cols);
  CHECK(got.constant_rows == wanted.constant_rows);
  CHECK(got.nan_rows == wanted.nan_rows);
  CHECK(got.infinite_rows == wanted.infinite_rows);
  CHECK(got.part_begin == wanted.part_begin);
  CHECK(got.part_end == wanted.part_end);
  CHECK(got.pairs_tested == wanted.pairs_tested);
  CHECK(got.pairs_kept == wanted.pairs_kept);
  CHECK(bits(got.max_p_effective) == bits(wanted.max_p_effective));
  CHECK(bits(got.min_abs_z_effective) == bits(wanted.min_abs_z_effective));
}

inline void check_same(const gpu::differential_edges& got, const gpu::differential_edges& wanted) {
  check_same(got.summary, wanted.summary);
  REQUIRE(got.edges.size() == wanted.edges.size());
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < got.edges.size(); ++e) {
    const gpu::differential_edge& a = got.edges[e];
    const gpu::differential_edge& b = wanted.edges[e];
    wrong += a.row != b.row || a.col != b.col || bits(a.first) != bits(b.first) ||
             bits(a.second) != bits(b.second) || bits(a.z) != bits(b.z) || bits(a.p) != bits(b.p);
  }
  CHECK(wrong == 0);
}

inline void check_same(const gpu::differential_counts& got,
                       const gpu::differential_counts& wanted) {
  check_same(got.summary, wanted.summary);
  CHECK(got.degree == wanted.degree);
}

inline void check_same(const gpu::differential_partners& got,
                       const gpu::differential_partners& wanted) {
  check_same(got.summary, wanted.summary);
  CHECK(got.count == wanted.count);
  REQUIRE(got.index.rows() == wanted.index.rows());
  REQUIRE(got.index.cols() == wanted.index.cols());
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < got.index.rows(); ++i) {
    for (gpu::index_t e = 0; e < got.index.cols(); ++e) {
      wrong += got.index(i, e) != wanted.index(i, e);
      // Behind the last partner there is a NaN.
      for (const auto& [a, b] :
           {std::pair(got.first(i, e), wanted.first(i, e)),
            std::pair(got.second(i, e), wanted.second(i, e)),
            std::pair(got.z(i, e), wanted.z(i, e)), std::pair(got.p(i, e), wanted.p(i, e))}) {
        wrong += bits(a) != bits(b) && !(std::isnan(a) && std::isnan(b));
      }
    }
  }
  CHECK(wrong == 0);
}

inline void check_same(const gpu::discovery_counts& got, const gpu::discovery_counts& wanted) {
  CHECK(got.below == wanted.below);
  CHECK(got.at_or_above == wanted.at_or_above);
  CHECK(got.bins == wanted.bins);
  CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
}

/// Edges as the definition has them: many, and as near as long doubles are to doubles.
template <class Edges>
void check_near(const Edges& got, const std::vector<pair_difference>& wanted) {
  REQUIRE(got.size() == wanted.size());
  CHECK(wanted.size() > 100);
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    CHECK(got[e].row == wanted[e].row);
    CHECK(got[e].col == wanted[e].col);
    CHECK(std::abs(got[e].first - wanted[e].first) <= 4e-15);
    CHECK(std::abs(got[e].second - wanted[e].second) <= 4e-15);
    CHECK(std::abs(got[e].z - wanted[e].z) <= 1e-11L * (1 + std::abs(wanted[e].z)));
    CHECK(std::abs(got[e].p - wanted[e].p) <= 1e-10L * wanted[e].p);
  }
}

}  // namespace gpu_test::differences
