#pragma once
/// @file
/// Benjamini and Hochberg's cut of a job that is computed in parts: counting passes whose counts
/// add up over the parts, and the cut that follows from their sums.
///
/// adjustment::benjamini_hochberg depends on all pairs of a job, so one part alone cannot decide
/// it. Instead every part counts (discovery_sink), the counts are added, and next_search() encloses
/// the number of discoveries. One to three passes decide it exactly. The parts then run with `max_p
/// = search.max_p_effective()` and adjustment::none, and together keep what the whole call would.

#include <cstdint>
#include <optional>
#include <vector>

#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// How far the search for the number of discoveries has come. The same on every backend.
struct discovery_search {
  double max_p = 1.0;           ///< The false discovery rate, in (0, 1].
  tail side = tail::two_sided;  ///< The tail that p is taken from.
  /// Those of the test; 0 of Kendall and of differential correlation, whose p itself is counted.
  observation_count observations = 0;
  std::uint64_t family = 0;  ///< Tests of the whole job.
  std::uint64_t least = 0;   ///< There are at least so many discoveries.
  std::uint64_t most = 0;    ///< There are at most so many.
  /// Whether all members are equal.
  friend bool operator==(const discovery_search&, const discovery_search&) = default;

  /// Whether the number of discoveries is known.
  [[nodiscard]] bool is_decided() const { return least == most; }
  /// The cut on p of a search that is decided: max_p_effective of the whole call, the same double.
  [[nodiscard]] GPU_SIMILARITY_EXPORT double max_p_effective() const;
};

/// Count the pairs of a call, or of a part of it, for one step of the search.
struct discovery_sink {
  /// `max_p` and `side` belong to the search; `min_abs` and `adjust` mean nothing here.
  pair_filter keep = {};
  /// The step: nothing at first, then the result of next_search().
  std::optional<discovery_search> search = {};
};

/// Result of discovery_sink. Those of the parts of a job add up.
struct discovery_counts {
  discovery_search search;          ///< The step that was counted for.
  std::uint64_t below = 0;          ///< Pairs below the range that the step bins.
  std::uint64_t at_or_above = 0;    ///< Pairs above it.
  std::vector<std::uint64_t> bins;  ///< Pairs in each bin between: 65,536 of them.
  pair_summary summary;             ///< What the run did.

  /// Adds the counts of another part.
  /// @throw gpu::invalid_argument where they are of another step.
  GPU_SIMILARITY_EXPORT discovery_counts& operator+=(const discovery_counts& other);
};

/// The search after a step that was counted over the whole job: the sums of the counts of all
/// parts. Ask is_decided() before the next step.
/// @throw gpu::invalid_argument where the counts are not those of all tests of the family.
[[nodiscard]] GPU_SIMILARITY_EXPORT discovery_search next_search(const discovery_counts& counts);

namespace detail {
template <>
struct sink_result<discovery_sink> {
  using type = discovery_counts;
};
}  // namespace detail

}  // namespace v0
}  // namespace gpu
