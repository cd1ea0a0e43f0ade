#pragma once
// What a program works on: known before any row is looked at.

#include <cstddef>
#include <optional>

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
  std::size_t gathered_row_bytes = 0;  ///< Scratch of a row that is not read in place.
  bool has_warpgroup_products;
  /// The tile that estimates statistics faster than others compute them, where there is one.
  std::optional<kernels::pair_tile_kind> estimates;
  bool has_room;        ///< Whether there is memory for the faster ways of sinks.
  bool is_never_short;  ///< Whether these are taken of jobs that are too short for them.
  int multiprocessors;
  std::size_t block_shared_bytes;
  std::size_t device_bytes;  ///< Memory of the device.
  const detail::cuda_costs& machine;
};

}  // namespace gpu::cuda
