#include "kernels/top_k/key.cuh"
#include "kernels/top_k/sort.cuh"

namespace gpu::kernels::select {
template std::size_t sort_composites_workspace<uint128_t>(index_t, index_t);
template void sort_composites<uint128_t>(const uint128_t*, uint128_t*, index_t, index_t, int, void*,
                                         std::size_t, cudaStream_t);
}  // namespace gpu::kernels::select
