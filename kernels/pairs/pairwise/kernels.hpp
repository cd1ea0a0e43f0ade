#pragma once
// Rows with missing values, of which each pair takes the columns that both have: how they are
// packed, and the kernels that compute their statistics. stats/shared_columns.hpp has the
// definition.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/round_up.hpp"
#include "kernels/pairs/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

// Packed rows stand in pieces of 8 bytes: functions of a layout say where in a row, in such pieces,
// something begins.

/// Pieces of the mask of a row: a bit for each column, set where a value is there.
GPU_SIMILARITY_HOST_DEVICE constexpr index_t mask_words(index_t cols) {
  return ceil_div(cols, index_t{64});
}
/// Stands for a column, of which 16 bits have the number, where there is none.
inline constexpr std::uint16_t no_column = 0xffff;
/// Places of the numbers of all columns, in whole pieces.
GPU_SIMILARITY_HOST_DEVICE constexpr index_t column_places(index_t cols) {
  return round_up(cols, index_t{4});
}
GPU_SIMILARITY_HOST_DEVICE constexpr index_t column_pieces(index_t cols) {
  return column_places(cols) / 4;
}

/// A packed row of ranks: its mask; the columns in the order of their values, no_column behind the
/// last that is there; and for each column the number of values below its own, and of those below
/// or equal.
struct pairwise_rank_layout {
  index_t cols;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t order() const {
    return mask_words(cols);
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t below() const {
    return order() + column_pieces(cols);
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t up_to() const {
    return below() + column_pieces(cols);
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t pitch() const {
    return up_to() + column_pieces(cols);
  }
};
/// Longest rows of ranks: a column, and a number of columns, are 16 bits.
inline constexpr index_t most_pairwise_rank_columns = 65'534;

/// A packed row of values: those that sums take, 0 where one is missing; the values themselves, NaN
/// there; and its mask. Rows begin at multiples of 16 bytes.
struct pairwise_value_layout {
  index_t cols;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t raw() const { return cols; }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t mask() const { return raw() + cols; }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr index_t pitch() const {
    return round_up(mask() + mask_words(cols), index_t{2});
  }
};

/// Packs rows with missing values, NaN, and sets square_sums to 1, or to 0 for rows that have no
/// statistic with any other. Takes memory from the stream's pool.
template <class T>
void launch_pack_pairwise_ranks(device_matrix_view<const T> data, index_t min_observations,
                                std::uint64_t* out, std::int64_t* square_sums, cudaStream_t stream);
template <class T>
void launch_pack_pairwise_values(device_matrix_view<const T> data, index_t min_observations,
                                 detail::row_centre centre, std::uint64_t* out,
                                 std::int64_t* square_sums, cudaStream_t stream);

// ---- classes of equal masks -------------------------------------------------------------------

/// The most classes that rows are taken by.
inline constexpr int most_mask_classes = 64;
/// Limbs of 7 bits of centred ranks of rows of `cols` columns; 0 where those rows are too long.
constexpr int class_rank_limbs(index_t cols) {
  return cols <= 128 ? 1 : (cols <= index_t{127} * 128 + 64 ? 2 : 0);
}

/// Fills the tables of `out` from packed rows: `shared`, and `sums`, `variances` and
/// `values`, or `ranks`, `squares` and `roots`; the lists of rows and `representatives` [count], a
/// row of each class, are there.
void launch_class_sums(const pair_operand& rows, const std::uint32_t* representatives,
                       const mask_classes& out, cudaStream_t stream);
void launch_class_rank_rows(const pair_operand& rows, const std::uint32_t* representatives,
                            const mask_classes& out, cudaStream_t stream);

}  // namespace gpu::kernels
