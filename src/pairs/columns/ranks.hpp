#pragma once
// Centred average ranks as doubles.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

#include "cpu/rank/centred_ranks.hpp"

namespace gpu::inline v0::detail {

/// 2 * (average rank) - (cols + 1) of every value of its row, to `out` [rows, cols]; on the calling
/// thread.
template <class T>
void rank_about_0(matrix_view<const T> rows, double* out) {
  matrix<std::int32_t> ranks(rows.rows(), rows.cols());
  std::vector<std::int64_t> square_sums(static_cast<std::size_t>(rows.rows()));
  cpu::centred_ranks(rows, ranks.view(), square_sums.data(), 1);
  std::copy_n(ranks.data(), rows.rows() * rows.cols(), out);
}

}  // namespace gpu::inline v0::detail
