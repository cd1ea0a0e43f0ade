#pragma once
// Rows as doubles, transformed as the measure says, before they are scaled to unit length: the one
// place where the CPU does so.

#include <vector>

#include <gpu/index.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::cpu {

/// Transforms rows of `cols` columns, by one thread.
class row_transformer {
 public:
  /// `what` outlives it.
  row_transformer(const detail::measure_traits& what, index_t cols);
  /// Transforms row[0 .. cols) in place: see stats/row_transform.hpp.
  void operator()(double* row);

 private:
  void weigh_from_median(double* row);
  // Median of the values in scratch_, whose order is lost.
  double median();

  const detail::measure_traits& what_;
  index_t cols_;
  std::vector<double> scratch_;
};

}  // namespace gpu::cpu
