#pragma once
// The least p of a correlation of ranks: what permutations allow where |statistic| is 1.

#include <array>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/p_value.hpp>

namespace gpu::stats {

/// Up to so many observations permutations are counted, and ties count for the least p.
inline constexpr index_t most_counted = 9;

/// The two-sided least p of rows without ties, 2 / observations! of whole observations; 0 from 171
/// on.
[[nodiscard]] double least_untied_p(observation_count observations);

/// t of a correlation of ranks: t_value, but at most the t whose p is least_untied_p, or where that
/// is 0 the t of the last double before 1.
[[nodiscard]] double rank_t_value(double r, observation_count observations);

/// What the ties of a row do to its ranks: sum of (t^3 - t) / 6 over its groups of t equal values.
/// The sum of the squares of its centred ranks is that of a row without ties less twice as much.
[[nodiscard]] inline std::int64_t tie_sum(const row_ties& ties) {
  return ties.pairs + ties.triples / 6;
}

/// The classes of rows by their ties, so that the least p of a pair is that of the larger class of
/// its rows. Class 0 has no ties; of more than most_counted observations 1 is that of all others.
class tie_classes {
 public:
  explicit tie_classes(index_t observations);

  /// Of a row; of one without a statistic any.
  [[nodiscard]] int of(std::int64_t tie_sum) const {
    if (of_sum_.empty()) return tie_sum > 0 ? 1 : 0;
    const auto place = static_cast<std::size_t>(tie_sum);
    return place < of_sum_.size() ? of_sum_[place] : 0;
  }
  [[nodiscard]] int count() const { return static_cast<int>(least_p_.size()); }
  /// Two-sided.
  [[nodiscard]] double least_p(int of) const { return least_p_[static_cast<std::size_t>(of)]; }
  /// Classes of all sums, from 0 on; empty of more than most_counted observations.
  [[nodiscard]] const std::vector<std::uint8_t>& of_sums() const { return of_sum_; }

 private:
  std::vector<std::uint8_t> of_sum_;
  std::vector<double> least_p_;  // ascending
};

}  // namespace gpu::stats
