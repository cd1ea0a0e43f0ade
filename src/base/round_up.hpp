#pragma once
// Division and rounding up, of integers that are not negative.

#include <gpu/index.hpp>

namespace gpu {

/// The least number of steps that holds `value`.
constexpr index_t ceil_div(index_t value, index_t step) {
  return (value + step - 1) / step;
}
/// The least multiple of `step` that is at least `value`.
constexpr index_t round_up(index_t value, index_t step) {
  return ceil_div(value, step) * step;
}

}  // namespace gpu
