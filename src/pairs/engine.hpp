#pragma once
// The interface between what is asked of all pairs (src/api) and the backends that compute it
// (src/cpu, src/cuda). An engine owns the prepared rows of one input. A new measure is a new
// prologue that fills an engine's rows; a new sink is a new member here, with one implementation
// per backend.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/detail/prepared_table.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/cuda_function.hpp"
#include "base/index_range.hpp"
#include "base/keep_range.hpp"
#include "pairs/area.hpp"
#include "pairs/edge_receiver.hpp"
#include "pairs/folding/row_patterns.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/observations.hpp"
#include "pairs/pair_ties.hpp"
#include "pairs/tables.hpp"
#include "plan/fold_choice.hpp"
#include "stats/significance/p_table.hpp"
#include "stats/soft_power.hpp"

namespace gpu::inline v0::detail {

/// An all-pairs call whose options are resolved: what follows from them, and from the measure, for
/// rows and tests. Nothing behind it names an option.
struct pair_request {
  measure_traits what;
  pair_tables tables;
  pair_part part = {};
  bool refuses_nan = false;  ///< Else a row with a NaN has no statistic.
  row_folding folding = row_folding::never;
  pair_variant variant = pair_variant::automatic;  ///< What was asked for.
  execution exec = {};
};

/// What an engine is made from.
struct pair_input {
  pair_tables tables;
  pair_area area;  ///< The pairs that its sinks are about.
  /// Whether all sinks that follow are about pairs i < j (edges, counts, bins): then no pair needs
  /// the rows before those of the area.
  bool pairs_above = false;
  fold_scope folds = fold_scope::never;
  bool refuses_nan = false;  ///< As in pair_request, and what follows.
  pair_variant variant = pair_variant::automatic;
  execution exec = {};

  [[nodiscard]] index_t rows() const { return rows_of_x() + rows_of_y(); }
  [[nodiscard]] index_t cols() const { return detail::cols_of(tables); }
  [[nodiscard]] index_t rows_of_x() const {
    return std::visit([](const auto& view) { return view.rows(); }, tables.x);
  }
  [[nodiscard]] index_t rows_of_y() const { return detail::rows_of_y(tables); }
};

/// The input of a call, whose parts have a `shape`, and for whose sink folding pays as `of_sink`
/// says.
pair_input input_of(const pair_request& request, part_shape shape,
                    fold_scope of_sink = fold_scope::many_rows);

/// What the prologue found about the rows: those of x with those of y behind them.
struct row_info {
  index_t rows = 0;
  index_t cols = 0;  ///< Of the input: the observations of a test. Packed rows may have more.
  /// Ascending. Also those with an infinite value, which summaries have apart.
  std::vector<index_t> constant_rows = {};
  std::vector<index_t> nan_rows = {};  // ascending
  double seconds = 0;
  /// Of the rows, where the engine knows them: on CUDA of signs; and of ranks tested by
  /// permutations whether there are any, as one pair or none.
  std::vector<row_ties> ties = {};
};

/// Rows of an input folded into patterns: the rows of the engine are then the patterns, and this
/// says which rows they stand for.
struct folded_rows {
  row_info input;
  row_patterns patterns;
};

// If `cuts` (rows with missing values: one cut for each number of shared columns) or `tied` (p
// depends on the ties of a pair) is set, it decides. `keep` then keeps every statistic and is
// ignored.
struct edge_request {
  keep_range keep;
  edge_order order;
  index_t batch_edges;
  /// p of a statistic, which the engine fills; without a table p is not wanted.
  stats::p_function p_of = {};
  const observation_cuts* cuts = nullptr;
  const tied_cut* tied = nullptr;
};

struct top_k_request {
  keep_range keep;
  index_t k;
  neighbor_order order;
  /// Called with rows of the result that are final, each of them at most once, by any thread of the
  /// engine, also by several at a time. An engine need not call it. May be empty.
  std::function<void(index_range)> take_final_rows = {};
  const observation_cuts* cuts = nullptr;
  const tied_cut* tied = nullptr;
};

/// With weights w, a kept pair (i, j) counts w_i w_j times in all and in the histogram, w_j times
/// in the degree of i and w_i times in that of j.
struct count_request {
  keep_range keep;
  index_t histogram_bins;
  std::span<const std::uint32_t> weights = {};  // [rows], or empty: ones
  const observation_cuts* cuts = nullptr;
  const tied_cut* tied = nullptr;
};

/// One counting pass over all tested pairs, for multiple testing: with x the key of a pair's
/// statistic, counts x < low, x >= high, and the bins in between (stats/bins.hpp).
struct bin_request {
  bin_key key;
  double low;
  double high;
  double scale;
  index_t bins;
  std::span<const std::uint32_t> weights = {};  // as in count_request
  /// Of rows with missing values: p of these takes the place of the statistic, and no_p that of a
  /// pair without one.
  const observation_tests* tests = nullptr;
  /// Where p depends on the ties of a pair: p_within takes the place of the statistic.
  tied_bins tied = {};
};
/// Sums of powers over all other rows, for the powers of `steps`.
struct connectivity_request {
  network_kind network;
  std::span<const stats::power_step> steps;
};

struct bin_counts {
  std::uint64_t below = 0;
  std::uint64_t at_or_above = 0;
  std::vector<std::uint64_t> bins;
};

/// Computes the pairs of the area of one prepared input on one backend.
class pair_engine {
 public:
  virtual ~pair_engine() = default;
  [[nodiscard]] virtual const row_info& rows() const = 0;
  [[nodiscard]] virtual std::string device() const = 0;
  [[nodiscard]] virtual pair_variant variant() const = 0;

  /// out [rows of the area, columns of the area]
  virtual void dense(matrix_view<double> out) = 0;
  virtual void dense(matrix_view<float> out) = 0;
  /// Delivers every kept pair in batches of at most batch_edges; `col` counts from the first column
  /// of the area.
  virtual void edges(const edge_request& request, edge_receiver& receiver) = 0;
  /// Row i of `out` is row i of the area's rows; partners count from the area's first column.
  virtual void top_k(const top_k_request& request, neighbor_table& out) = 0;
  /// Fills kept, degree [rows() of the engine], which it makes as long, and histogram.
  virtual void counts(const count_request& request, pair_counts& out) = 0;
  [[nodiscard]] virtual bin_counts bin_statistics(const bin_request& request) = 0;
  /// out [rows of the area, steps]: the sums of each row over all columns of the area but itself,
  /// by step.column. The area is of one table; rows without a statistic have any sums.
  virtual void connectivity(const connectivity_request& request, matrix_view<double> out) = 0;
};

/// An engine and, where its rows are patterns, what they were folded from.
struct made_engine {
  std::unique_ptr<pair_engine> engine;
  std::optional<folded_rows> folded = {};
};

/// A table that is kept in host memory: `view` stands for it in calls, with its rows and columns.
class host_prepared_table : public prepared_table {
 public:
  any_table view;
};

/// What an engine would use for a shape: reported by plan_*, used by the engine itself.
struct engine_plan {
  std::string device;
  pair_variant variant;
  index_t tile_rows;
  index_t tile_cols;
  std::size_t workspace_bytes;
  std::string warning = {};
};

}  // namespace gpu::inline v0::detail

namespace gpu::cpu {
/// Prepares the rows of `input` and returns the engine. Throws as spearman_all_pairs documents.
detail::made_engine make_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input);
detail::engine_plan plan_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input);
/// How edges() of an engine that make_pair_engine returned here would find the pairs of `keep`, and
/// why, in words; "" where there is one way.
std::string explain_edges(detail::pair_engine& engine, const detail::keep_range& keep);
/// Ranks or scales the rows of x, which a host_prepared_table then is.
std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request& request);
}  // namespace gpu::cpu

namespace gpu::cuda {
GPU_SIMILARITY_CUDA_FUNCTION detail::made_engine make_pair_engine(
    const detail::measure_traits& what, const detail::pair_input& input) GPU_SIMILARITY_OR_THROW;
GPU_SIMILARITY_CUDA_FUNCTION detail::engine_plan plan_pair_engine(
    const detail::measure_traits& what, const detail::pair_input& input) GPU_SIMILARITY_OR_THROW;
/// Prepares x on the device that the request names.
GPU_SIMILARITY_CUDA_FUNCTION std::shared_ptr<detail::prepared_table> prepare_table(
    const detail::pair_request& request) GPU_SIMILARITY_OR_THROW;
/// The column of the first NaN of a row of a table in device memory, or in some of its columns;
/// cols where there is none. Waits.
GPU_SIMILARITY_CUDA_FUNCTION index_t
first_nan_column(const device_table_view& table, index_t row, const execution& exec,
                 std::span<const index_t> columns = {}) GPU_SIMILARITY_OR_THROW;
/// Those of `rows` of a table in device memory that hold an infinite value, in one of `columns`
/// where there are any named. `rows` are ascending. Waits.
GPU_SIMILARITY_CUDA_FUNCTION std::vector<index_t> infinite_rows(
    const device_table_view& table, std::span<const index_t> rows, std::span<const index_t> columns,
    const execution& exec) GPU_SIMILARITY_OR_THROW;
/// The ties of each row of a table in device memory of at most most_cols_on_cuda columns of signs.
/// Waits.
GPU_SIMILARITY_CUDA_FUNCTION std::vector<row_ties> find_device_ties(
    const device_table_view& table, const execution& exec) GPU_SIMILARITY_OR_THROW;
}  // namespace gpu::cuda
