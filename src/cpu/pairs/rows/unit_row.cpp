#include "cpu/pairs/rows/unit_row.hpp"

#include <cmath>

namespace gpu::cpu {

detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre, double* row,
                               index_t cols) {
  const row_passes& pass = kernels.row;
  bool is_finite = true;
  double largest = pass.largest(row, cols, &is_finite);
  if (!is_finite) return detail::row_kind::not_finite;
  const bool is_centred = detail::is_centred(centre);
  if (is_centred) {
    index_t equal = 1;
    while (equal < cols && row[equal] == row[0]) ++equal;
    if (equal >= cols) return detail::row_kind::constant;
  }
  const double sum = pass.scale_and_sum(row, cols, detail::power_of_two_scale(largest));
  if (is_centred) {
    const auto count = static_cast<double>(cols);
    const double rest = pass.take_off_and_sum(row, cols, sum / count);
    largest = pass.take_off_and_largest(row, cols, rest / count);
  } else {
    largest = pass.largest(row, cols, &is_finite);
  }
  if (largest == 0) return detail::row_kind::constant;
  const double square = pass.scale_and_square(row, cols, detail::power_of_two_scale(largest));
  pass.divide(row, cols, std::sqrt(square));
  return detail::row_kind::ordinary;
}

}  // namespace gpu::cpu
