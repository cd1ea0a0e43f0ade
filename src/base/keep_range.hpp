#pragma once
// What decides a pair once its statistic is known: the cut, and the key that counting passes bin.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gpu::inline v0::detail {

/// The filter as one test on the statistic: kept where r >= at_least or r <= at_most. NaN never is.
struct keep_range {
  double at_least;
  double at_most;
  [[nodiscard]] constexpr bool keeps(double r) const { return r >= at_least || r <= at_most; }
  bool operator==(const keep_range&) const = default;
};

/// Tie sums, a bit each: half of what ties take off the sum of the squares of a row's centred
/// ranks.
struct tie_sums {
  std::uint64_t bits[2] = {0, 0};

  constexpr void add(std::int64_t sum) {
    if (sum >= 0 && sum < 128) bits[sum / 64] |= std::uint64_t{1} << (sum % 64);
  }
  [[nodiscard]] constexpr bool has(std::int64_t sum) const {
    return sum >= 0 && sum < 128 && (bits[sum / 64] >> (sum % 64) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool is_empty() const { return (bits[0] | bits[1]) == 0; }
};

/// The filter of pairs of rows of ranks, of which those without ties may have a test of their own.
/// The sum of the squares of a row's centred ranks tells whether it has ties, which make it
/// smaller.
struct pair_cut {
  keep_range widest{0.0, 0.0};      ///< Keeps what either of the two keeps.
  std::int64_t untied_squares = 0;  ///< Of a row without ties; 0: `widest` is that of all pairs.
  keep_range untied{0.0, 0.0};      ///< Where neither row has ties.
  keep_range tied{0.0, 0.0};        ///< Where either has.
  tie_sums dropped = {};            ///< Of rows that have too many ties for any pair to be kept.

  /// One filter for all pairs.
  [[nodiscard]] static constexpr pair_cut of(const keep_range& keep) { return {.widest = keep}; }
  [[nodiscard]] static constexpr pair_cut of(const keep_range& untied, const keep_range& tied,
                                             std::int64_t untied_squares,
                                             const tie_sums& dropped = {}) {
    return {.widest = {std::min(untied.at_least, tied.at_least),
                       std::max(untied.at_most, tied.at_most)},
            .untied_squares = untied_squares,
            .untied = untied,
            .tied = tied,
            .dropped = dropped};
  }
  [[nodiscard]] constexpr bool is_one() const { return untied_squares == 0; }
  /// What is kept of every pair.
  [[nodiscard]] constexpr keep_range narrowest() const {
    if (is_one()) return widest;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!dropped.is_empty()) return {infinity, -infinity};
    return {std::max(untied.at_least, tied.at_least), std::min(untied.at_most, tied.at_most)};
  }
  /// Of the statistic of two rows with such sums of squares.
  [[nodiscard]] constexpr bool keeps(double statistic, std::int64_t x_squares,
                                     std::int64_t y_squares) const {
    if (is_one()) return widest.keeps(statistic);
    const bool has_ties = x_squares != untied_squares || y_squares != untied_squares;
    if (!has_ties) return untied.keeps(statistic);
    return tied.keeps(statistic) && !dropped.has((untied_squares - x_squares) / 2) &&
           !dropped.has((untied_squares - y_squares) / 2);
  }
};

/// Which function of the statistic a binning pass bins.
enum class bin_key { magnitude, value, negated_value };
[[nodiscard]] constexpr double key_of(double r, bin_key key) {
  if (key == bin_key::magnitude) return r < 0 ? -r : r;
  return key == bin_key::value ? r : -r;
}

}  // namespace gpu::inline v0::detail
