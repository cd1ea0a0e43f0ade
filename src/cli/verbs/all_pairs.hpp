#pragma once
// The library's all-pairs functions on tables of any element type, or of bits.

#include <algorithm>
#include <limits>
#include <variant>

#include <gpu/all_pairs.hpp>
#include <gpu/plan.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// The first rows of a table, at most `rows`.
inline detail::any_table table_of(const io::table& table,
                                  index_t rows = std::numeric_limits<index_t>::max()) {
  rows = std::min(rows, table.rows());
  if (table.bits) {
    return detail::words_of(
        bit_matrix_view(table.bits->words(), rows, table.bits->cols(), table.bits->row_words()));
  }
  if (table.sparse) {
    return table.sparse->with_rows(rows,
                                   [](const auto& view) -> detail::any_table { return view; });
  }
  return std::visit(
      [rows]<class T>(const matrix<T>& values) -> detail::any_table {
        return detail::read_table(matrix_view<const T>(values.data(), rows, values.cols()));
      },
      table.values);
}

/// The tables as the library takes them, whatever their element types: one instantiation of a sink
/// instead of one a pair of types.
inline detail::pair_tables tables_of(const input_tables& tables,
                                     index_t rows = std::numeric_limits<index_t>::max()) {
  detail::pair_tables out{table_of(tables.x, rows)};
  if (tables.x.bits) out.bits = tables.cols();
  if (!tables.y) return out;
  out.y = table_of(*tables.y, rows);
  if (tables.y->bits) out.y_bits = tables.y->cols();
  return out;
}

/// Edges of a batch of a stream. They wait outside the scratch memory that --memory-limit bounds:
/// fewer of them where it is small.
[[nodiscard]] inline index_t batch_edges_of(const pair_options& options) {
  constexpr std::size_t most = std::size_t{1} << 20;
  constexpr std::size_t least = std::size_t{1} << 16;
  const std::size_t limit = options.exec.workspace_bytes;
  if (limit == 0) return most;
  return static_cast<index_t>(std::clamp(limit / (4 * sizeof(edge)), least, most));
}

/// The pairs of the first rows of each table, at most `rows`.
template <class Sink>
sink_result_t<Sink> all_pairs(const pairs_command& job, const input_tables& tables,
                              const pair_options& options, const Sink& sink,
                              index_t rows = std::numeric_limits<index_t>::max()) {
  return detail::all_pairs(job.what, tables_of(tables, rows), tables.with_columns(options), sink);
}

}  // namespace gpu::cli
