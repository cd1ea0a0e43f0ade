#pragma once
// The library's all-pairs functions on tables of any element type, or of bits.

#include <algorithm>
#include <concepts>
#include <optional>
#include <variant>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/plan.hpp>
#include <gpu/tanimoto.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

inline detail::any_table table_of(const io::table& table) {
  if (table.sparse) {
    return table.sparse->with_view([](const auto& view) -> detail::any_table { return view; });
  }
  return std::visit(
      [](const auto& values) -> detail::any_table { return detail::read_table(values); },
      table.values);
}

/// The tables as the library takes them, whatever their element types: one instantiation of a sink
/// in place of one a pair of types.
inline detail::pair_tables tables_of(const input_tables& tables) {
  detail::pair_tables out{table_of(tables.x)};
  if (tables.y) out.y = table_of(*tables.y);
  return out;
}

/// The sinks of Tanimoto similarities that the command takes.
template <class Sink>
concept bit_sink = std::same_as<Sink, dense_sink> || std::same_as<Sink, edge_sink> ||
                   std::same_as<Sink, top_k_sink> || std::same_as<Sink, count_sink> ||
                   std::same_as<Sink, stream_sink>;

/// Edges of a batch of a stream. They wait outside the scratch memory that --memory-limit bounds:
/// fewer of them where it is small.
[[nodiscard]] inline index_t batch_edges_of(const pair_options& options) {
  constexpr std::size_t most = std::size_t{1} << 20;
  constexpr std::size_t least = std::size_t{1} << 16;
  const std::size_t limit = options.exec.workspace_bytes;
  if (limit == 0) return most;
  return static_cast<index_t>(std::clamp(limit / (4 * sizeof(edge)), least, most));
}

/// The Tanimoto similarities of x, or of x against y.
template <class Sink>
sink_result_t<Sink> all_bits(const bit_matrix_view& x, const std::optional<bit_matrix_view>& y,
                             const pair_options& options, const Sink& sink) {
  if constexpr (bit_sink<Sink>) {
    return detail::tanimoto_all_pairs(x, y ? &*y : nullptr,
                                      {.part = options.part, .exec = options.exec}, sink);
  } else {
    throw unsupported(
        "tanimoto: the result is not offered, expected edges, top-k, counts or dense");
  }
}

/// The first rows of a table, at most `rows`.
inline bit_matrix_view first_bits(const io::table& table, index_t rows) {
  const bit_matrix& bits = *table.bits;
  return {bits.words(), std::min(rows, bits.rows()), bits.cols(), bits.row_words()};
}

template <class Sink>
sink_result_t<Sink> all_pairs(const pairs_command& job, const input_tables& tables,
                              const pair_options& options, const Sink& sink) {
  if (tables.x.bits) {
    std::optional<bit_matrix_view> y;
    if (tables.y) y = tables.y->bits->view();
    return all_bits(tables.x.bits->view(), y, options, sink);
  }
  return detail::all_pairs(job.what, tables_of(tables), tables.with_columns(options), sink);
}

}  // namespace gpu::cli
