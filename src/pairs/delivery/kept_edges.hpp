#pragma once
// The edges of an engine on their way to a list or to a callback: p, checksum and memory.

#include <gpu/array.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "stats/significance/edge_p_values.hpp"

namespace gpu::delivery {

/// Where p of a pair is not that of its statistic alone, once the cut is resolved: what it follows
/// from. At most one of them is there.
struct pair_tests {
  const detail::missing_values* missing = nullptr;  ///< Of rows with missing values.
  const detail::tied_rows* tied = nullptr;          ///< Of a test that depends on ties.

  [[nodiscard]] bool is_empty() const { return missing == nullptr && tied == nullptr; }
  /// `col` counts from the first column of the area.
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const {
    return missing != nullptr ? missing->p(statistic, row, col) : tied->p(statistic, row, col);
  }
  [[nodiscard]] const detail::observation_cuts* cuts() const {
    return missing == nullptr ? nullptr : missing->cuts.get();
  }
  [[nodiscard]] const detail::tied_cut* tied_cut() const {
    if (missing != nullptr) return missing->kendall_cut();
    return tied == nullptr ? nullptr : &tied->cut();
  }
};

/// The pairs of an engine that a cut keeps, and their p.
class kept_edges {
 public:
  /// `threads` as of execution::cpu_threads. The engine outlives this, and so does what `tests`
  /// names.
  kept_edges(detail::pair_engine& engine, const detail::measure_traits& what,
             const detail::keep_range& keep, tail side, int threads, const pair_tests& tests = {});

  [[nodiscard]] int threads() const { return threads_; }
  /// p of a statistic, as long as this lives.
  [[nodiscard]] stats::p_function p_of() const { return p_values_.function(); }
  /// p of a pair of rows, by the columns that they share or their ties; `col` counts from the first
  /// column of the engine's area.
  [[nodiscard]] double p_of_pair(index_t row, index_t col, double statistic) const;
  /// How many edges there are: a counting pass.
  [[nodiscard]] std::uint64_t count();

  /// Passes every batch of edges, whose p is filled, to `receiver`.
  void deliver(edge_order order, index_t batch_edges, detail::edge_receiver& receiver);

 private:
  detail::pair_engine& engine_;
  detail::keep_range keep_;
  pair_tests tests_;
  int threads_;
  stats::edge_p_values p_values_;
};

/// Fills `list` and returns its checksum.
/// @throw gpu::capacity_exceeded where there are more than sink.max_edges.
pair_checksum list_edges(kept_edges& kept, const edge_sink& sink, array<edge>& list);

/// Hands all edges to sink.consume and returns their checksum.
pair_checksum stream_edges(kept_edges& kept, const stream_sink& sink);

}  // namespace gpu::delivery
