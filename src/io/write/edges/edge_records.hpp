#pragma once
// Edges as the records of a .npy file: row u4, col u4, statistic f8, p f8, then n u4 where pairs
// have their observations, lower f8 and upper f8 where they have confidence intervals, and q f8
// where edges have it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/npy_header.hpp"
#include "io/write/edges/edge_pipeline.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

// An edge in memory is the beginning of the record.
static_assert(sizeof(edge) == 24 && std::is_trivially_copyable_v<edge>);
static_assert(offsetof(edge, col) == 4 && offsetof(edge, statistic) == 8 &&
              offsetof(edge, p) == 16);
static_assert(sizeof(confidence_bounds) == 16 && offsetof(confidence_bounds, upper) == 8);

template <class Value>
char* append_bytes(char* out, const Value& value) {
  std::memcpy(out, &value, sizeof(value));
  return out + sizeof(value);
}

[[nodiscard]] inline std::size_t record_bytes(const result_context& context) {
  return sizeof(edge) + (context.has_n ? sizeof(std::uint32_t) : 0) +
         (context.has_intervals() ? sizeof(confidence_bounds) : 0);
}

/// The records of `edges`: these themselves where they have no column behind p, else bytes in
/// `room`.
/// @param q of each edge; empty: they have none.
[[nodiscard]] inline std::string_view make_records(std::span<const edge> edges,
                                                   std::span<const double> q,
                                                   const result_context& context,
                                                   block_text& room) {
  if (!context.has_columns_behind_p() && q.empty()) return bytes_of(std::span<const edge>(edges));
  const std::size_t bytes = record_bytes(context) + (q.empty() ? 0 : sizeof(double));
  char* const begin = room.room_for(edges.size() * bytes);
  char* to = begin;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const edge& e = edges[i];
    to = append_bytes(to, e);
    if (context.has_n) {
      to = append_bytes(
          to, static_cast<std::uint32_t>(context.observations_of(index_t{e.row}, index_t{e.col})));
    }
    if (context.has_intervals()) {
      to = append_bytes(to, context.interval_of(e.statistic, index_t{e.row}, index_t{e.col}));
    }
    if (!q.empty()) to = append_bytes(to, q[i]);
  }
  return {begin, static_cast<std::size_t>(to - begin)};
}

}  // namespace gpu::io
