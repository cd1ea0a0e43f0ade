#pragma once
// What a program works on, known before any row is looked at; and the tile that decides pairs for a
// sink, with what it is given. For host and device results.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <type_traits>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "cuda/pairs/rows/row_format.hpp"
#include "kernels/pairs/kernels.hpp"
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

/// A tile with its sink: to be launched on every panel of the pairs.
template <class Sink>
struct tile_step {
  kernels::pair_tile_kind tile;
  Sink sink;

  void launch(const kernels::pair_panel& panel, cudaStream_t stream) const {
    kernels::launch_pairs(tile, panel, sink, stream);
  }
};

/// The tile of a dense result: one in doubles has double precision.
template <class Value>
kernels::pair_tile_kind dense_tile_of(const row_format& format) {
  if constexpr (std::is_same_v<Value, double>) {
    return format.exact_tile();
  } else {
    return format.deciding_tile();
  }
}

/// Writes every statistic; rows i and j have theirs at out[(i - first_row) * pitch + j -
/// first_col].
template <class Value>
tile_step<kernels::dense_sink_args> dense_step(kernels::pair_tile_kind tile, Value* out,
                                               index_t pitch, index_t first_row,
                                               index_t first_col) {
  kernels::dense_sink_args sink{.pitch = pitch, .first_row = first_row, .first_col = first_col};
  if constexpr (std::is_same_v<Value, double>) {
    sink.out_double = out;
  } else {
    sink.out_float = out;
  }
  return {.tile = tile, .sink = sink};
}

}  // namespace gpu::cuda
