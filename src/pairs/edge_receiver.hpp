#pragma once
// Who takes the edges of an engine.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <gpu/pair_sinks.hpp>

#include "pairs/packed_edges.hpp"

namespace gpu::inline v0::detail {

/// Bounds of a number of edges, which almost surely hold and are close where there are many edges.
struct edge_estimate {
  double least;
  double most;
};

/// Edges on their way to a receiver.
struct edge_batch {
  std::span<edge> edges;
  const pair_checksum* checksum = nullptr;  ///< Of these edges; null where it is not known yet.
};

/// Takes the edges of an engine. The engine calls one function at a time, but for wants_more().
class edge_receiver {
 public:
  virtual ~edge_receiver() = default;
  /// Comes before the first edge, once at most, from an engine that has looked at a sample.
  virtual void begin(const edge_estimate& /*estimate*/) {}
  /// Memory for the next `count` edges, all of which are written there and then are the next batch,
  /// of any size. Empty where the receiver has none: then they come in batches of the request.
  [[nodiscard]] virtual std::span<edge> room(std::size_t /*count*/) { return {}; }
  /// Takes a batch, whose edges it may overwrite.
  virtual void take(const edge_batch& batch) = 0;
  /// Whether edges may come packed instead. Their p is then the receiver's work.
  [[nodiscard]] virtual bool takes_packed() const { return false; }
  virtual void take_packed(const packed_edges& /*edges*/, const pair_checksum& /*sum*/) {}
  /// Once it is false, an engine may leave out what it has not delivered yet; it may be false from
  /// the start. Any thread may ask.
  [[nodiscard]] virtual bool wants_more() const { return true; }
};

/// Hands `edges` over in batches of at most `batch`.
inline void deliver_batches(std::span<edge> edges, index_t batch, edge_receiver& receiver) {
  const auto step = static_cast<std::size_t>(batch);
  for (std::size_t first = 0; first < edges.size(); first += step) {
    receiver.take({edges.subspan(first, std::min(step, edges.size() - first))});
  }
}

/// A receiver that hands every batch to take(std::span<edge>).
template <class Take>
class edge_consumer final : public edge_receiver {
 public:
  explicit edge_consumer(Take take) : take_(std::move(take)) {}
  void take(const edge_batch& batch) override { take_(batch.edges); }

 private:
  Take take_;
};

}  // namespace gpu::inline v0::detail
