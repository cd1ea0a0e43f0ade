#pragma once
// What every all-pairs call does around its sink: validate, choose the backend, prepare the rows,
// turn the filter into a cut, and sum up. Behind these functions nothing knows a gpu::measure, only
// its descriptor.

#include <chrono>
#include <memory>
#include <string>

#include <gpu/detail/all_pairs.hpp>

#include "pairs/adjustment.hpp"
#include "pairs/engine.hpp"
#include "pairs/folding/folded_engine.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/pair_test.hpp"
#include "plan/short_jobs.hpp"

namespace gpu::inline v0::detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Why only the CPU has a measure of rows of so many columns, in words; "" where CUDA has it too.
std::string limit_on_cuda(const measure_traits& what, index_t cols);

/// About how long all pairs of the part take `passes` times on either backend.
backend_seconds seconds_of_call(const pair_request& request, double passes = 1);

/// Whether nobody has named a backend, a device, or what only one backend has.
bool chooses_backend(const pair_request& request);

/// How often a call looks at all pairs where only its caller knows.
inline constexpr double any_passes = 0;
/// Checks the tables and the part of a call; the backend that it runs on.
backend checked_backend(const pair_request& request, double passes = 1);

/// One running call.
class pair_run {
 public:
  /// Checks shape and NaN, then prepares the rows on the backend of the request, which outlives
  /// this. `shape` is how a part is cut, `of_sink` which jobs folding pays for.
  pair_run(const pair_request& request, part_shape shape,
           fold_scope of_sink = fold_scope::many_rows);

  [[nodiscard]] pair_engine& engine() { return *engine_; }
  /// The engine of the rows that are packed: of their patterns where they are folded.
  [[nodiscard]] pair_engine& packed_engine() { return folded_ ? folded_->inner() : *engine_; }
  /// What the pairs are tested by, with the cut of `filter`; notes the effective cuts for the
  /// summary. Partners are `of_one_side`: see detail::of_one_sign.
  const pair_test& resolve(const pair_filter& filter, bool of_one_side = false);
  /// The same test with the cut of every pair that max_p keeps after the adjustment of the filter,
  /// which is resolved: whatever min_abs and the sign of partners leave out.
  const pair_test& within_max_p(const pair_filter& filter);
  [[nodiscard]] pair_test& test() { return *test_; }
  /// Once a filter with benjamini_hochberg is resolved: pairs of the family that max_p keeps.
  [[nodiscard]] std::uint64_t discoveries() const { return cut_.discoveries; }
  /// The summary of the finished run.
  [[nodiscard]] pair_summary finish(std::uint64_t pairs_kept) const;
  /// The same of a sink that gives pairs one by one.
  [[nodiscard]] pair_summary finish(const pair_checksum& kept) const;
  /// Pairs of the whole job that have a statistic; of rows with missing values once a filter with
  /// an adjustment is resolved.
  [[nodiscard]] std::uint64_t family() const;
  /// The pairs of the area that have a statistic.
  [[nodiscard]] std::uint64_t pairs_tested() const;
  [[nodiscard]] const pair_area& area() const { return input_.area; }
  [[nodiscard]] index_t rows_of_x() const { return input_.rows_of_x(); }
  /// Whether it is x against y.
  [[nodiscard]] bool is_against() const { return has_y(input_.tables); }

 private:
  [[nodiscard]] std::uint64_t pairs_by_t() const;
  [[nodiscard]] double least_p() const;

  const measure_traits& what_;
  backend used_;
  pair_input input_;
  folded_pair_engine* folded_ = nullptr;  // engine_, where its rows are folded
  std::unique_ptr<pair_engine> engine_;
  std::unique_ptr<pair_test> test_;
  detail::effective_cut cut_;
  std::chrono::steady_clock::time_point pairs_start_;
};

/// Tables that are prepared once, x of the request.
std::shared_ptr<const prepared_table> prepare_table(const pair_request& request);

/// The call of each sink. Throws as spearman_all_pairs documents, and std::bad_alloc.
template <class Value>
correlation_matrix<Value> run_all_pairs(const pair_request& request,
                                        const basic_dense_sink<Value>& sink);
edge_list run_all_pairs(const pair_request& request, const edge_sink& sink);
neighbor_table run_all_pairs(const pair_request& request, const top_k_sink& sink);
pair_counts run_all_pairs(const pair_request& request, const count_sink& sink);
pair_summary run_all_pairs(const pair_request& request, const stream_sink& sink);
connectivity_table run_all_pairs(const pair_request& request, const connectivity_sink& sink);
discovery_counts run_all_pairs(const pair_request& request, const discovery_sink& sink);

}  // namespace gpu::inline v0::detail
