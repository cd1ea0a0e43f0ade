#pragma once
// Which tile of C a block computes.

#include <cuda_runtime.h>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// The tile of C of a block: bands of 8 tile rows, column after column within a band, so that the
/// blocks that run together share rows of A and columns of B in the L2 cache.
struct tile_place {
  index_t row;
  index_t col;
  __device__ tile_place(index_t index, index_t tiles_down, index_t tiles_across) {
    constexpr index_t band = 8;
    const index_t first = index / (band * tiles_across) * band;
    const index_t height = min(band, tiles_down - first);
    const index_t within = index % (band * tiles_across);
    row = first + within % height;
    col = within / height;
  }
};

}  // namespace gpu::kernels
