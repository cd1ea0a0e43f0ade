#include "cpu/pairs/unit/transformed_row.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/pairs/unit/row_sums.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

row_transformer::row_transformer(detail::row_transform how, index_t most_cols) : how_(how) {
  if (how != detail::row_transform::none) scratch_.resize(static_cast<std::size_t>(most_cols));
}

std::size_t row_transformer_bytes(detail::row_transform how, index_t most_cols) {
  return how == detail::row_transform::none ? 0
                                            : static_cast<std::size_t>(most_cols) * sizeof(double);
}

void row_transformer::operator()(double* row, index_t cols) {
  switch (how_) {
    case detail::row_transform::none:
      return;
    case detail::row_transform::biweight:
      return weigh_from_median(row, cols);
  }
}

detail::row_median row_transformer::median(index_t cols) {
  const auto end = scratch_.begin() + cols;
  const auto lower = scratch_.begin() + detail::lower_middle(cols);
  std::nth_element(scratch_.begin(), lower, end);
  const bool is_one_value = detail::upper_middle(cols) == detail::lower_middle(cols);
  const double upper = is_one_value ? *lower : *std::min_element(lower + 1, end);
  return {*lower, upper};
}

void row_transformer::weigh_from_median(double* row, index_t cols) {
  if (!is_finite(row, cols)) return;
  if (std::all_of(row, row + cols, [first = row[0]](double x) { return x == first; })) {
    std::fill_n(row, cols, 0.0);
    return;
  }
  const double scale = detail::power_of_two_scale(largest_magnitude(row, cols));
  for (index_t k = 0; k < cols; ++k) row[k] = detail::in_scale(row[k], scale);
  std::copy_n(row, cols, scratch_.begin());
  const detail::row_median middle = median(cols);
  std::transform(row, row + cols, scratch_.begin(),
                 [&middle](double x) { return std::fabs(middle.twice_distance(x)); });
  const detail::biweight weigh(middle, median(cols));
  if (weigh.reach > 0) {
    std::transform(row, row + cols, row, [&weigh](double x) { return weigh.of(x); });
  } else {
    take_off_mean(row, cols);
    take_off_mean(row, cols);
  }
}

}  // namespace gpu::cpu
