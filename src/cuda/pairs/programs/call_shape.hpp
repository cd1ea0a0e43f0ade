#pragma once
// What a program works on: known before any row is looked at.

#include <cstddef>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "cuda/pairs/rows/row_format.hpp"
#include "pairs/area.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/machine_costs.hpp"

namespace gpu::cuda {

struct call_shape {
  const detail::measure_traits& what;
  detail::pair_area area;
  index_t rows;  ///< Of the table, or of x and y.
  row_format format;
  pair_variant variant;
  bool has_warpgroup_products;
  bool has_estimates;   ///< Whether there are fast estimates: products of halves, or of ranks.
  bool has_room;        ///< Whether there is memory for the faster ways of sinks.
  bool is_never_short;  ///< Whether these are taken of jobs that are too short for them.
  int multiprocessors;
  std::size_t block_shared_bytes;
  std::size_t device_bytes;  ///< Memory of the device.
  const detail::cuda_costs& machine;
};

}  // namespace gpu::cuda
