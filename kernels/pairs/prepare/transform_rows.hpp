#pragma once
// Transforms of rows before they are scaled to unit length: see stats/row_transform.hpp.

#include <cuda_runtime_api.h>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// row_transform::biweight of `count` rows of `cols` doubles, one behind the other, in place.
void launch_biweight_rows(double* rows, index_t count, index_t cols, cudaStream_t stream);

}  // namespace gpu::kernels
