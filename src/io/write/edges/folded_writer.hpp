#pragma once
// Edges between patterns of rows, and the patterns, as text or .npy.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <gpu/pair_sinks.hpp>

#include "io/output_form.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// Folded edges as they come.
class folded_edge_writer {
 public:
  virtual ~folded_edge_writer() = default;
  virtual void write(std::span<const folded_edge> edges) = 0;
  /// Completes the file, which the caller then commits.
  virtual void finish() = 0;
};

/// TSV: a header line, then name_i, name_j, statistic, t, p, pairs, with lower and upper before
/// pairs where these have intervals; a pattern has the name of its first row. npy: records (first
/// u4, second u4, statistic f8, p f8, with intervals lower f8, upper f8, then pairs u8), patterns
/// counted from 0. `patterns` outlives the writer. Without the header where the context's frame is
/// rows_only.
/// @throw output_error where the format is npy with a header and `out` cannot be rewritten.
[[nodiscard]] std::unique_ptr<folded_edge_writer> make_folded_edge_writer(
    result_format format, output_file& out, const row_patterns& patterns,
    const result_context& context);

/// What stands in front of `count` folded edges.
[[nodiscard]] std::string folded_edge_header(result_format format, const result_context& context,
                                             std::uint64_t count);

/// TSV: name, pattern, of every row; the pattern is empty where the row has none. npy: the pattern
/// of each row [rows], u4. Of x against y as write_counts.
void write_patterns(result_format format, output_file& out, const row_patterns& patterns,
                    const result_context& context);

}  // namespace gpu::io
