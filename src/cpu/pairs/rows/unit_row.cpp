#include "cpu/pairs/rows/unit_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/element_types.hpp"

namespace gpu::cpu {
namespace {

// detail::power_of_two_scale without two calls of the mathematical library: of a normal magnitude
// with a normal scale, whose exponent is the one of the magnitude with the other sign.
double scale_for(double magnitude) {
  const std::uint64_t biased = std::bit_cast<std::uint64_t>(magnitude) >> 52;
  if (biased < 1 || biased > 2045) return detail::power_of_two_scale(magnitude);
  return std::bit_cast<double>((2046 - biased) << 52);
}

// The rest of make_unit_row of a row whose values are in `row`.
detail::row_kind scale_to_unit(const row_passes& pass, detail::row_centre centre, double largest,
                               double* row, index_t cols) {
  double scale = scale_for(largest);
  if (detail::is_centred(centre)) {
    index_t equal = 1;
    while (equal < cols && row[equal] == row[0]) ++equal;
    if (equal >= cols) return detail::row_kind::constant;
    const auto count = static_cast<double>(cols);
    const double sum = pass.scale_and_sum(row, cols, scale);
    const double rest = pass.take_off_and_sum(row, cols, sum / count);
    largest = pass.take_off_and_largest(row, cols, rest / count);
    scale = scale_for(largest);
  } else if (const double scaled = largest * scale; scaled < 1 || scaled >= 2) {
    // One power of two does not bring all magnitudes to [1, 2).
    (void)pass.scale_and_sum(row, cols, scale);
    scale = scale_for(scaled);
  }
  if (largest == 0) return detail::row_kind::constant;
  const double square = pass.scale_and_square(row, cols, scale);
  pass.divide(row, cols, std::sqrt(square));
  return detail::row_kind::ordinary;
}

}  // namespace

template <class T>
detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre,
                               const T* values, double* row, index_t cols) {
  bool is_finite = true;
  double largest = 0;
  if constexpr (std::is_same_v<T, float>) {
    largest = kernels.row.copy_floats(values, cols, row, &is_finite);
  } else if constexpr (std::is_same_v<T, double>) {
    largest = kernels.row.copy_doubles(values, cols, row, &is_finite);
  } else {
    std::copy_n(values, cols, row);
    largest = kernels.row.copy_doubles(row, cols, row, &is_finite);
  }
  if (!is_finite) return detail::row_kind::not_finite;
  return scale_to_unit(kernels.row, centre, largest, row, cols);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                        \
  template detail::row_kind make_unit_row(const pair_kernels&, detail::row_centre, const T*, \
                                          double*, index_t);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
