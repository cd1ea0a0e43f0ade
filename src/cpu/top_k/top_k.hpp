#pragma once
// top_k on the CPU. Arguments are checked and outputs sized by the caller.

#include <gpu/matrix_view.hpp>
#include <gpu/top_k.hpp>

namespace gpu::cpu {

/// The `k` best entries of each row, k <= data.cols(): values and indices are [rows, k], dense.
/// `options.variant` is threshold or sort.
template <class T>
void top_k(matrix_view<const T> data, index_t k, T* values, index_t* indices,
           const top_k_options& options);

/// The `k` best distinct values of each row: values, indices and counts are [rows, k], dense;
/// found [rows] receives how many there are. Entries behind them are 0, -1, 0.
template <class T>
void top_k_distinct(matrix_view<const T> data, index_t k, T* values, index_t* indices,
                    index_t* counts, index_t* found, const top_k_options& options);

}  // namespace gpu::cpu
