#include "kernels/top_k/sort.cuh"

namespace gpu::kernels::select {
template std::size_t sort_words_workspace<std::uint32_t>(index_t, index_t);
template const std::uint32_t* sort_words(std::uint32_t*, std::uint32_t*, index_t, index_t,
                                         bit_range, void*, std::size_t, cudaStream_t);
}  // namespace gpu::kernels::select
