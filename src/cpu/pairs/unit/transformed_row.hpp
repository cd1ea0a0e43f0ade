#pragma once
// Rows as doubles, transformed as the measure says, before they are scaled to unit length: the one
// place where the CPU does so.

#include <cstddef>
#include <vector>

#include <gpu/index.hpp>

#include "stats/row_transform.hpp"

namespace gpu::cpu {

/// Transforms rows of at most `most_cols` columns, by one thread.
class row_transformer {
 public:
  row_transformer(detail::row_transform how, index_t most_cols);
  /// Transforms row[0 .. cols) in place: see stats/row_transform.hpp.
  void operator()(double* row, index_t cols);

 private:
  void weigh_from_median(double* row, index_t cols);
  // Median of the first values in scratch_, whose order is lost.
  detail::row_median median(index_t cols);

  detail::row_transform how_;
  std::vector<double> scratch_;
};

/// Bytes of the memory of a row_transformer.
std::size_t row_transformer_bytes(detail::row_transform how, index_t most_cols);

}  // namespace gpu::cpu
