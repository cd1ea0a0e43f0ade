#pragma once
// The edges between patterns, on their way to be spread over the rows.

#include <span>
#include <utility>

#include "pairs/engine.hpp"

namespace gpu::inline v0::detail {

/// What is asked of the engine of the patterns, whose edges are still to be spread.
inline edge_request between_patterns(const edge_request& request) {
  edge_request out = request;
  out.p_of = {};
  return out;
}

/// Takes the edges between patterns by take(std::span<edge>) as long as wants() says so.
template <class Take, class Wants>
class pattern_receiver final : public edge_receiver {
 public:
  pattern_receiver(Take take, Wants wants) : take_(std::move(take)), wants_(std::move(wants)) {}
  void take(const edge_batch& batch) override { take_(batch.edges); }
  [[nodiscard]] bool wants_more() const override { return wants_(); }

 private:
  Take take_;
  Wants wants_;
};

}  // namespace gpu::inline v0::detail
