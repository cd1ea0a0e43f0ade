#pragma once
// What every all-pairs call does around its sink: validate, choose the backend, prepare the rows,
// turn the filter into a cut, and sum up. Used by all_pairs.cpp and plan_all_pairs.cpp.

#include <chrono>
#include <memory>

#include <gpu/detail/all_pairs.hpp>

#include "plan/pair_engine.hpp"
#include "stats/adjustment.hpp"

namespace gpu::detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One running call.
class pair_run {
 public:
  /// Checks shape and NaN, then prepares the rows on the backend that options.exec resolves to.
  pair_run(measure what, const any_matrix_view& data, const pair_options& options);

  [[nodiscard]] pair_engine& engine() { return *engine_; }
  /// Resolves `filter` and notes the effective cuts for the summary.
  [[nodiscard]] keep_range resolve(const pair_filter& filter);
  /// The summary of the finished run.
  [[nodiscard]] pair_summary finish(std::uint64_t pairs_kept) const;
  [[nodiscard]] std::uint64_t pairs_tested() const;

 private:
  backend used_;
  std::unique_ptr<pair_engine> engine_;
  stats::effective_cut cut_;
  std::chrono::steady_clock::time_point pairs_start_;
};

}  // namespace gpu::detail
