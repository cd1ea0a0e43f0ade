#pragma once
// The Spearman prologue on the CPU: doubled centred average ranks, exact integers.

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu::cpu {

/// For each row, u = 2 * (average rank) - (cols + 1): an integer with |u| <= cols - 1 and sum 0.
/// Integer is int8 (cols <= 128), int16 (cols <= 32768) or int32. `square_sums` [rows] receives
/// sum u^2 (0 for a constant row). Columns cols .. ranks.cols() - 1 of `ranks` are set to 0.
/// Parallel over rows with `threads` threads (0: the default). A NaN ranks last; rows
/// with a NaN are the caller's business.
template <class T, class Integer>
void centred_ranks(matrix_view<const T> data, matrix_view<Integer> ranks, std::int64_t* square_sums,
                   int threads);

/// Bytes that each thread takes meanwhile, at most.
std::size_t centred_ranks_bytes(index_t cols);

}  // namespace gpu::cpu
