#pragma once
// The edges of an engine on their way to a list or to a callback: p, checksum and memory.

#include <gpu/array.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/engine.hpp"
#include "pairs/pair_test.hpp"

namespace gpu::delivery {

/// The pairs of an engine that a cut keeps, and their p.
class kept_edges {
 public:
  /// Of the cut that `test` has taken. `threads` as of execution::cpu_threads. The engine and the
  /// test outlive this.
  kept_edges(detail::pair_engine& engine, const detail::pair_test& test, int threads);

  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] const detail::pair_test& test() const { return test_; }
  /// How many edges there are: a counting pass.
  [[nodiscard]] std::uint64_t count();

  /// Passes every batch of edges, whose p is filled, to `receiver`.
  void deliver(edge_order order, index_t batch_edges, detail::edge_receiver& receiver);

 private:
  detail::pair_engine& engine_;
  const detail::pair_test& test_;
  int threads_;
};

/// Fills `list` and returns its checksum.
/// @throw gpu::capacity_exceeded where there are more than sink.max_edges.
pair_checksum list_edges(kept_edges& kept, const edge_sink& sink, array<edge>& list);

/// Hands all edges to sink.consume and returns their checksum.
pair_checksum stream_edges(kept_edges& kept, const stream_sink& sink);

}  // namespace gpu::delivery
