#include "kernels/top_k/key.cuh"
#include "kernels/top_k/sort.cuh"

namespace gpu::kernels::select {
template std::size_t sort_words_workspace<uint128_t>(index_t, index_t);
template const uint128_t* sort_words(uint128_t*, uint128_t*, index_t, index_t, bit_range, void*,
                                     std::size_t, cudaStream_t);
}  // namespace gpu::kernels::select
