#pragma once
// The best partners of each row on their way to a table.

#include <gpu/pair_sinks.hpp>

#include "pairs/delivery/kept_edges.hpp"
#include "pairs/engine.hpp"

namespace gpu::delivery {

/// Fills `out`, whose rows are those of the engine's area from row `row_begin` of the input on, and
/// returns the checksum of its entries. `tests` hold the cuts, as of kept_edges.
pair_checksum find_partners(detail::pair_engine& engine, const detail::keep_range& keep,
                            const pair_tests& tests, const top_k_sink& sink, index_t row_begin,
                            int threads, neighbor_table& out);

}  // namespace gpu::delivery
