#pragma once
// What a case of all pairs runs on, and what the oracle keeps of its pairs.

#include <cstddef>
#include <span>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/plan.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// What a case runs on.
struct pair_target {
  gpu::backend where = gpu::backend::cpu;
  gpu::pair_variant variant = gpu::pair_variant::automatic;
  [[nodiscard]] gpu::pair_options options() const {
    gpu::pair_options out;
    out.variant = variant;
    out.exec.target = where;
    out.p_method = gpu::p_method::t;  // whose oracle is reference_p
    return out;
  }
};

/// Names the target with every failure of the case.
#define GPU_TEST_INFO(target)                                       \
  INFO("backend " << gpu::to_string((target).where) << ", variant " \
                  << gpu::to_string((target).variant))

template <class T>
gpu::matrix_view<const T> const_view(const gpu::matrix<T>& m) {
  return m.view();
}

/// The pairs of `table` that pass `keep` without adjustment, by the definition of pair_filter.
inline std::vector<reference_pair> filtered(const statistic_table& table, gpu::index_t observations,
                                            const gpu::pair_filter& keep) {
  std::vector<reference_pair> out;
  for (const reference_pair& pair : reference_pairs(table)) {
    const double key = reference_key(pair.statistic, keep.side);
    const bool strong = keep.min_abs == 0 || key >= keep.min_abs;
    if (strong && reference_p(pair.statistic, observations, keep.side) <= keep.max_p) {
      out.push_back(pair);
    }
  }
  return out;
}

template <class Measure>
void check_edges(std::span<const gpu::edge> got, const std::vector<reference_pair>& wanted,
                 gpu::index_t observations, gpu::tail side) {
  REQUIRE(got.size() == wanted.size());
  bool same_pairs = true;
  bool same_statistics = true;
  bool same_p = true;
  for (std::size_t e = 0; e < got.size(); ++e) {
    same_pairs &= got[e].row == wanted[e].row && got[e].col == wanted[e].col;
    same_statistics &= Measure::same(got[e].statistic, wanted[e].statistic);
    same_p &= got[e].p == gpu::correlation_p_value(got[e].statistic, observations, side);
  }
  CHECK(same_pairs);
  CHECK(same_statistics);
  CHECK(same_p);
}

/// Filters that exercise every tail and both cuts.
inline std::vector<gpu::pair_filter> some_filters() {
  std::vector<gpu::pair_filter> out;
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double max_p : {1.0, 0.7, 0.05, 1e-4}) {
      for (const double min_abs : {0.0, 0.3137}) {
        out.push_back({.max_p = max_p, .min_abs = min_abs, .side = side});
      }
    }
  }
  return out;
}

}  // namespace gpu_test
