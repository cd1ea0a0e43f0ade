#pragma once
// Rows of Kendall's tau-b: the signs of all pairs of columns, of which S of two rows is an integer
// dot product.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/p_value.hpp>

#include "base/host_device.hpp"
#include "base/round_up.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "stats/significance/kendall_decision.hpp"

namespace gpu::kernels {

/// A packed row: the sign of x_j - x_i for all columns i < j, a byte each, zeros behind them up to
/// whole pieces, and the ties of the row.
struct sign_row_layout {
  static constexpr index_t piece = 64;  ///< Signs that a step of the products takes.
  index_t cols;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t pairs() const {
    return cols * (cols - 1) / 2;
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t pieces() const {
    return (pairs() + piece - 1) / piece;
  }
  /// Bytes before the ties.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t sign_bytes() const {
    return pieces() * piece;
  }
  /// In pieces of 8 bytes; rows are aligned to 16.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t pitch() const {
    return (sign_bytes() + static_cast<index_t>(sizeof(row_ties))) / 8;
  }
};

/// Packs rows, and sets square_sums to 1, to 0 of a constant row, and to -1 of one with a NaN,
/// which has the ties {}.
template <class T>
void launch_pack_signs(device_matrix_view<const T> data, std::byte* out, std::int64_t* square_sums,
                       cudaStream_t stream);
/// The ties of packed rows, one behind the other.
void launch_gather_ties(const std::byte* rows, index_t count, index_t cols, row_ties* out,
                        cudaStream_t stream);

// ---- the screen of strict cuts ----------------------------------------------------------------

/// The centred doubled ranks of packed rows, [count, stride], zeros behind the columns, and the
/// sums of their squares, 0 of rows without a statistic. At most 128 columns, whose ranks fit 8
/// bits.
void launch_ranks_of_signs(const std::byte* rows, index_t count, index_t cols, std::int8_t* ranks,
                           index_t stride, std::int64_t* square_sums, cudaStream_t stream);

/// As launch_screen_refine: decides the candidates by S and the ties of both rows.
void launch_refine_signs(const std::byte* rows, index_t cols, const stats::kendall_decision& by,
                         const screen_rows& packed, const screen_candidates& candidates,
                         const screened_edges& edges, cudaStream_t stream);

}  // namespace gpu::kernels
