#pragma once
// CUB's sorts of composites and keys, compiled once per width.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::kernels::select {

/// The bits that words are sorted by.
struct bit_range {
  int first;
  int end;
};

/// Scratch memory of sort_words for at most `rows` rows of `cols` each.
template <class Word>
std::size_t sort_words_workspace(index_t rows, index_t cols);

/// Sorts each of the rows [rows, cols] by some bits, the largest first, and returns where they are
/// then: at `words` or at `spare`, which is as large. Words of equal bits keep their order.
template <class Word>
const Word* sort_words(Word* words, Word* spare, index_t rows, index_t cols, bit_range bits,
                       void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace gpu::kernels::select
