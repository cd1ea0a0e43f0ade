#pragma once
// Which implementation ranks a row, and what its counts mean: pure functions of what is asked.

#include <cstddef>

#include <gpu/execution.hpp>
#include <gpu/index.hpp>
#include <gpu/rank.hpp>

namespace gpu::inline v0::detail {

/// Most columns that the CPU ranks by counting: its counts stay within a signed byte.
inline constexpr int cpu_counting_max_cols = 128;

/// The variant that ranks rows of `cols` elements of `element_bytes` each on `where` (cpu or cuda),
/// with ties broken by `ties`. `automatic` becomes the fastest one; another one is returned as it
/// is.
/// Throws gpu::unsupported where `asked` is not offered for that backend or for so many columns.
rank_variant choose_rank_variant(rank_variant asked, backend where, index_t cols,
                                 std::size_t element_bytes, tie_method ties = tie_method::average);

/// Every implementation counts per element, with s smaller, g greater elements in its row:
/// average: s - g; min: s; max: g; dense: distinct smaller values; ordinal: s + equal ones before.
/// The rank is scale * count + offset, exact in double.
struct rank_scale {
  double scale;
  double offset;
};
constexpr rank_scale scale_of_counts(tie_method ties, index_t cols) {
  const double m = static_cast<double>(cols);
  switch (ties) {
    case tie_method::average:
      return {0.5, 0.5 * (m + 1)};
    case tie_method::max:
      return {-1.0, m};
    case tie_method::min:
    case tie_method::dense:
    case tie_method::ordinal:
      break;
  }
  return {1.0, 1.0};
}

}  // namespace gpu::inline v0::detail
