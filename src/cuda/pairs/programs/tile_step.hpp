#pragma once
// The tile that decides pairs for a sink, and what it is given. For host and device results.

#include <cuda_runtime_api.h>

#include <type_traits>

#include "cuda/pairs/rows/row_format.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::cuda {

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

/// Writes every statistic: that of rows i and j to out[(i - first_row) * pitch + j - first_col].
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
