#pragma once
// What a program works on: known before any row is looked at.

#include <cstddef>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "cuda/pairs/rows/row_format.hpp"
#include "pairs/area.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::cuda {

struct call_shape {
  const detail::measure_traits& what;
  detail::pair_area area;
  index_t rows;  ///< Of the table, or of x and y.
  row_format format;
  pair_variant variant;
  bool has_warpgroup_products;
  bool fast_counts;  ///< Whether there is memory for more than the tiles' counts.
  int multiprocessors;
  std::size_t block_shared_bytes;
};

}  // namespace gpu::cuda
