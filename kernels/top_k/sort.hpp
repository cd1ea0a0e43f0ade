#pragma once
// CUB's sorts of composites, compiled once per width.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::kernels::select {

/// Scratch memory of sort_composites for `rows` rows of `cols` each.
template <class Composite>
std::size_t sort_composites_workspace(index_t rows, index_t cols);

/// Sorts each row of in [rows, cols] into out, the largest first. Only bits from `first_bit` on
/// need to differ: the sort of one row is stable, and the bits below descend in the input.
template <class Composite>
void sort_composites(const Composite* in, Composite* out, index_t rows, index_t cols, int first_bit,
                     void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace gpu::kernels::select
