#pragma once
// Products of rows in some cheap form, which tell most pairs from a cut. What is within their error
// of it they leave to decide.

#include <cmath>
#include <cstdint>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/pair_search.hpp"

namespace gpu::cpu {

/// Keeps statistics of at least `least` on one side.
struct pair_cut {
  double least = 0;
  cut_side side = cut_side::positive;
};

/// body(key): key(x) is what is compared with a cut of this side.
template <class Body>
auto with_key(cut_side side, const Body& body) {
  switch (side) {
    case cut_side::magnitude:
      return body([](double x) { return std::abs(x); });
    case cut_side::negative:
      return body([](double x) { return -x; });
    case cut_side::positive:
      break;
  }
  return body([](double x) { return x; });
}

class pair_filter {
 public:
  virtual ~pair_filter() = default;
  /// By how much a statistic may differ from the product; 0 where that is rounding alone, whose few
  /// pairs do not count.
  [[nodiscard]] virtual double error() const = 0;
  /// Calls test for every pair of `tile` above the diagonal that may pass; columns ascend within
  /// rows.
  virtual void search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                      const exact_test& test) const = 0;
  /// Calls test for every pair of `tile`, also below the diagonal, whose statistic, or its
  /// magnitude, may be above the bar of its row; columns ascend within rows.
  virtual void above(const pair_tile& tile, const double* bars, bool by_magnitude,
                     pair_scratch& scratch, const exact_test& test) const = 0;
  /// As pair_search::count without bins. Calls test for the pairs that may or may not pass.
  virtual std::uint64_t count(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                              const exact_test& test, std::uint32_t* row_degree,
                              std::uint32_t* col_degree) const = 0;
};

}  // namespace gpu::cpu
