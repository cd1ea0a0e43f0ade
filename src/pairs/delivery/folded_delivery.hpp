#pragma once
// Folded edges on their way to a list or to a callback: their pairs of rows, and their checksum.

#include <cstdint>
#include <functional>
#include <span>

#include <gpu/pair_sinks.hpp>

#include "pairs/folding/folded_engine.hpp"
#include "stats/significance/edge_p_values.hpp"

namespace gpu::delivery {

/// The pairs of rows that folded edges are, and the checksum of the folded edges themselves.
struct folded_totals {
  std::uint64_t pairs = 0;
  pair_checksum checksum = {};
};

/// Receives a batch of folded edges, whose p is not filled, and what fills it.
using folded_receiver =
    std::function<void(const stats::edge_p_values& p_values, std::span<folded_edge> batch)>;

/// Passes every batch of folded edges that `request` asks for to `receive`.
folded_totals deliver_folded(detail::folded_pair_engine& engine,
                             const detail::edge_request& request,
                             const stats::edge_p_values& p_values, int threads,
                             const folded_receiver& receive);

}  // namespace gpu::delivery
