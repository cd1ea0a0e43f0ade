#include "cpu/pairs/unit/transformed_row.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/pairs/unit/row_sums.hpp"
#include "stats/row_transform.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

row_transformer::row_transformer(const detail::measure_traits& what, index_t cols)
    : what_(what), cols_(cols) {
  if (what.transform != detail::row_transform::none) {
    scratch_.resize(static_cast<std::size_t>(cols));
  }
}

void row_transformer::operator()(double* row) {
  switch (what_.transform) {
    case detail::row_transform::none:
      return;
    case detail::row_transform::biweight:
      return weigh_from_median(row);
  }
}

double row_transformer::median() {
  const auto lower = scratch_.begin() + detail::lower_middle(cols_);
  std::nth_element(scratch_.begin(), lower, scratch_.end());
  const bool is_one_value = detail::upper_middle(cols_) == detail::lower_middle(cols_);
  const double upper = is_one_value ? *lower : *std::min_element(lower + 1, scratch_.end());
  return detail::median_of_middles(*lower, upper);
}

void row_transformer::weigh_from_median(double* row) {
  if (!is_finite(row, cols_)) return;
  if (std::all_of(row, row + cols_, [first = row[0]](double x) { return x == first; })) {
    std::fill_n(row, cols_, 0.0);
    return;
  }
  const double scale = detail::power_of_two_scale(largest_magnitude(row, cols_));
  for (index_t k = 0; k < cols_; ++k) row[k] = detail::in_scale(row[k], scale);
  std::copy_n(row, cols_, scratch_.begin());
  const double middle = median();
  std::transform(row, row + cols_, scratch_.begin(),
                 [middle](double x) { return std::fabs(x - middle); });
  const double mad = median();
  if (mad > 0) {
    const detail::biweight weigh(middle, mad);
    std::transform(row, row + cols_, row, [&weigh](double x) { return weigh.of(x); });
  } else {
    take_off_mean(row, cols_);
    take_off_mean(row, cols_);
  }
}

}  // namespace gpu::cpu
