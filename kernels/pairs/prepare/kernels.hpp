#pragma once
// Host-callable launches that prepare rows: what is missing or has no statistic, norms, and the
// forms of ranks and of unit rows that tiles read. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/device_table.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "kernels/pairs/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// out[i * count + k] = table(i, columns[k]) of every row, or table(i, k) where `columns` is null.
/// Out is the type that the values are read as, or double.
template <class Out>
void launch_gather(const device_table_view& table, const index_t* columns, index_t count, Out* out,
                   cudaStream_t stream);

/// Lowers `first` to i * cols + k of the first value beyond 2^53, of a table of 64-bit integers.
template <class Integer>
void launch_find_inexact(const device_table_view& table, unsigned long long* first,
                         cudaStream_t stream);

/// Sets square_sums[i] to -1 where row i holds a NaN. Nothing for integer types.
template <class T>
void launch_flag_nan_rows(device_matrix_view<const T> data, std::int64_t* square_sums,
                          cudaStream_t stream);

/// Memory that a launch sets to zero besides its own work.
struct zeroed_words {
  std::uint64_t* words = nullptr;
  index_t count = 0;
};
/// norms[i] from square_sums[i] of `rows` rows, and words that are set to zero.
struct norm_request {
  const std::int64_t* square_sums = nullptr;
  index_t rows = 0;
  row_norm* norms = nullptr;
  zeroed_words zeros = {};
};
/// `invalid`, unless it is null, is increased by the number of square_sums <= 0.
void launch_row_norms(const norm_request& norms, unsigned long long* invalid, cudaStream_t stream);

/// Splits centred ranks into int8 limbs of 7 bits: rank = sum over l of limb_l * 128^l, limb l of
/// row i at out[i * limbs * columns + l * columns], zero padded.
template <class Integer>
void launch_split_limbs(device_matrix_view<const Integer> ranks, index_t cols, int limbs,
                        index_t columns, std::int8_t* out, cudaStream_t stream);

/// The prologue of unit rows: unit rows [rows, unit_row_layout(cols).pitch()] and their status:
/// square_sums[i] is 1, 0 for a row that `centre` leaves nothing of, -1 for a row with NaN, -2 for
/// one with an infinity.
template <class T>
void launch_unit_rows(device_matrix_view<const T> data, detail::row_centre centre,
                      double* unit_rows, std::int64_t* square_sums, cudaStream_t stream);

/// Each double of the unit rows as two tf32 floats, high and low part, `columns` (a multiple of
/// 16) doubles a row, zero padded; and norms, where they are asked for.
void launch_split_floats(const double* unit_rows, index_t rows, index_t unit_pitch, index_t columns,
                         float* out, const norm_request& norms, cudaStream_t stream);

/// The unit rows in half precision, half_pitch(unit_pitch) halves a row, zero padded.
void launch_halve_rows(const double* unit_rows, index_t rows, index_t unit_pitch, void* out,
                       cudaStream_t stream);

}  // namespace gpu::kernels
