#pragma once
// Tanimoto similarities from panels of counts in host memory: of every pair, where that is what was
// asked for.

#include <gpu/matrix_view.hpp>
#include <gpu/tanimoto.hpp>

#include "base/call_progress.hpp"
#include "tanimoto/search.hpp"

namespace gpu::tanimoto {

/// Where panels of counts are computed.
struct panel_job {
  const bit_tables& tables;
  index_range rows;               ///< of x
  binary_matmul_variant variant;  ///< that multiplies
  const execution& exec;
  detail::call_progress& progress;  ///< of pairs
};

/// out(i, j) = the similarity of row rows.begin + i of x and row j of y.
template <class Value>
void fill_dense(const panel_job& job, matrix_view<Value> out);

/// As search::partners, of any number of them.
void fill_partners(const panel_job& job, double least, const partner_rows& out);

}  // namespace gpu::tanimoto
