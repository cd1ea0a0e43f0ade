#pragma once
// The form in which the CPU multiplies rows, chosen by one pure function of their length.

#include <gpu/index.hpp>

namespace gpu::cpu {

/// What of rows is multiplied to find the pairs that pass a cut. Statistics of ranks are exact
/// sums, those of unit rows sums of doubles.
enum class cpu_row_form {
  bytes,       ///< 8-bit ranks, exact sums of 32 bits.
  short_sums,  ///< 16-bit ranks, exact sums of 32 bits.
  floats,      ///< Unit rows in single precision.
  wide         ///< Ranks or unit rows, rounded to 16 bits of one scale.
};

/// Columns up to which doubled centred ranks fit 8 bits, and 16 bits.
inline constexpr index_t most_int8_cols = 128;
inline constexpr index_t most_int16_cols = 32768;
/// Beyond, rows do not stay in the caches beside each other, and blocks of pieces of them take less
/// time. |sum| of a dot product of ranks, and of any part of it, is at most cols (cols^2 - 1) / 3:
/// int32 up to 1860 columns.
inline constexpr index_t most_short_sum_cols = 512;
/// From here on a block of rounded products takes less time than one of floats, rounding included.
inline constexpr index_t least_rounded_cols = 300;

/// `has_int8_sums`: whether the processor has fast sums of 8-bit products.
[[nodiscard]] constexpr cpu_row_form choose_cpu_rank_form(index_t cols, bool has_int8_sums) {
  if (cols <= most_int8_cols && has_int8_sums) return cpu_row_form::bytes;
  return cols <= most_short_sum_cols ? cpu_row_form::short_sums : cpu_row_form::wide;
}

/// Whether rows of so many columns can be multiplied in a form: ranks fit it, and so do sums.
[[nodiscard]] constexpr bool can_take_rank_form(cpu_row_form form, index_t cols,
                                                bool has_int8_sums) {
  constexpr index_t most_int32_cols = 1860;  // of sums, see most_short_sum_cols
  switch (form) {
    case cpu_row_form::bytes:
      return cols <= most_int8_cols && has_int8_sums;
    case cpu_row_form::short_sums:
      return cols <= most_int32_cols;
    case cpu_row_form::floats:
      return false;
    case cpu_row_form::wide:
      break;
  }
  return true;
}

[[nodiscard]] constexpr cpu_row_form choose_cpu_unit_form(index_t cols) {
  return cols < least_rounded_cols ? cpu_row_form::floats : cpu_row_form::wide;
}

/// Bytes of a rank of rows of so many columns.
[[nodiscard]] constexpr index_t cpu_rank_bytes(cpu_row_form form, index_t cols) {
  if (form == cpu_row_form::bytes) return 1;
  return cols <= most_int16_cols ? 2 : 4;
}

}  // namespace gpu::cpu
