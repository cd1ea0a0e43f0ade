#pragma once
// rank_rows on the CPU.

#include <gpu/matrix_view.hpp>
#include <gpu/rank.hpp>

namespace gpu::cpu {

/// Fills `ranks` [rows, cols]; `options.variant` is resolved. Throws gpu::invalid_argument for a
/// NaN where the options reject it.
template <class T>
void rank_rows(matrix_view<const T> data, matrix_view<double> ranks, const rank_options& options);

}  // namespace gpu::cpu
