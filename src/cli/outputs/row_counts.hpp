#pragma once
// How many rows have no statistic, and why.

#include <cstdint>

#include <gpu/pair_sinks.hpp>

namespace gpu::cli {

struct row_counts {
  std::uint64_t constant_rows = 0;
  std::uint64_t nan_rows = 0;
  std::uint64_t infinite_rows = 0;
  std::uint64_t y_constant_rows = 0;
  std::uint64_t y_nan_rows = 0;
  std::uint64_t y_infinite_rows = 0;
};

[[nodiscard]] inline row_counts counts_of(const pair_summary& s) {
  return {s.constant_rows.size(),   s.nan_rows.size(),   s.infinite_rows.size(),
          s.y_constant_rows.size(), s.y_nan_rows.size(), s.y_infinite_rows.size()};
}

}  // namespace gpu::cli
