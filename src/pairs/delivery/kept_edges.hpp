#pragma once
// The edges of an engine on their way to a list or to a callback: p, checksum and memory.

#include <gpu/array.hpp>
#include <gpu/pair_checksum.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "stats/edge_p_values.hpp"

namespace gpu::delivery {

/// The pairs of an engine that a cut keeps, and their p.
class kept_edges {
 public:
  /// `threads` as of execution::cpu_threads. The engine outlives this, and so does `missing`, which
  /// is null where rows have no missing values.
  kept_edges(detail::pair_engine& engine, const detail::measure_traits& what,
             const detail::keep_range& keep, tail side, int threads,
             const detail::missing_values* missing = nullptr);

  [[nodiscard]] int threads() const { return threads_; }
  /// p of a statistic, as long as this lives.
  [[nodiscard]] stats::p_function p_of() const { return p_values_.function(); }
  /// p of a pair of rows, by the columns that they share; `col` counts from the first column of the
  /// engine's area.
  [[nodiscard]] double p_of_pair(index_t row, index_t col, double statistic) const;
  /// How many edges there are: a counting pass.
  [[nodiscard]] std::uint64_t count();

  /// Passes every batch of edges, whose p is filled, to `receiver`.
  void deliver(edge_order order, index_t batch_edges, detail::edge_receiver& receiver);

 private:
  detail::pair_engine& engine_;
  detail::keep_range keep_;
  const detail::missing_values* missing_;
  int threads_;
  stats::edge_p_values p_values_;
};

/// Fills `list` and returns its checksum.
/// @throw gpu::capacity_exceeded where there are more than sink.max_edges.
pair_checksum list_edges(kept_edges& kept, const edge_sink& sink, array<edge>& list);

/// Hands all edges to sink.consume and returns their checksum.
pair_checksum stream_edges(kept_edges& kept, const stream_sink& sink);

}  // namespace gpu::delivery
