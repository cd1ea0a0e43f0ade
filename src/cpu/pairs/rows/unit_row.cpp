#include "cpu/pairs/rows/unit_row.hpp"

#include <cmath>

#include "cpu/pairs/unit/row_sums.hpp"

namespace gpu::cpu {

detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre, double* row,
                               index_t cols, index_t stride) {
  bool is_constant = true;
  for (index_t k = 0; k < cols; ++k) is_constant &= row[k] == row[0];
  if (!is_finite(row, cols)) return detail::row_kind::not_finite;
  const int centrings = detail::is_centred(centre) ? 2 : 0;
  if (centrings > 0 && is_constant) return detail::row_kind::constant;

  const double scale = detail::power_of_two_scale(largest_magnitude(row, cols));
  for (index_t k = 0; k < cols; ++k) row[k] *= scale;
  for (int pass = 0; pass < centrings; ++pass) take_off_mean(row, cols);
  const double rest = largest_magnitude(row, cols);
  if (rest == 0) return detail::row_kind::constant;
  const double rest_scale = detail::power_of_two_scale(rest);
  for (index_t k = 0; k < cols; ++k) row[k] *= rest_scale;
  double square = 0;
  kernels.ordered_dots(row, 1, row, 1, stride, &square, 1);
  const double length = std::sqrt(square);
  for (index_t k = 0; k < cols; ++k) row[k] /= length;
  return detail::row_kind::ordinary;
}

}  // namespace gpu::cpu
