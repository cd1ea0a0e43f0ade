#pragma once
// The best partners of each row on their way to a table, and their q.

#include <cstdint>

#include <gpu/array.hpp>
#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/delivery/kept_edges.hpp"
#include "pairs/engine.hpp"

namespace gpu::delivery {

/// Fills `out`, whose rows are those of the engine's area from row `row_begin` of the input on, and
/// returns the checksum of its entries. `test` has taken the cut of the sink.
pair_checksum find_partners(detail::pair_engine& engine, const detail::pair_test& test,
                            const top_k_sink& sink, index_t row_begin, int threads,
                            neighbor_table& out);

/// That the p of so many pairs, and what it takes to rank so many entries among them, fit into
/// exec.workspace_bytes, or without that into half of the host's memory.
/// @throw gpu::out_of_memory
void check_room_for_q(std::uint64_t pairs, index_t entries, const execution& exec);

/// p of every entry of `table`, whose rows are those of the input from `row_begin` on; NaN behind
/// the last of a row.
matrix<double> partner_p(const neighbor_table& table, const kept_edges& kept, index_t row_begin);

/// p of every pair that `kept` keeps, about `expected` of them, in no order.
array<double> list_p(kept_edges& kept, std::uint64_t expected);

}  // namespace gpu::delivery
