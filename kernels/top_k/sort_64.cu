#include "kernels/top_k/sort.cuh"

namespace gpu::kernels::select {
template std::size_t sort_composites_workspace<std::uint64_t>(index_t, index_t);
template void sort_composites<std::uint64_t>(const std::uint64_t*, std::uint64_t*, index_t, index_t,
                                             int, void*, std::size_t, cudaStream_t);
}  // namespace gpu::kernels::select
