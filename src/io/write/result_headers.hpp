#pragma once
// What stands in front of results of all pairs, and what edges take.

#include <cstdint>
#include <string>

#include <gpu/index.hpp>

#include "io/output_form.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// A line, or a record, for each edge, or for each entry of a table of partners.
enum class pair_rows { edges, partners };

/// What stands in front of `count` of them; where they have q, their adjusted p, it is the last
/// column.
[[nodiscard]] std::string pair_header(result_format format, const result_context& context,
                                      pair_rows kind, bool has_q, std::uint64_t count);

/// A header line of names without tabs, as the format separates them.
[[nodiscard]] std::string header_line(result_format format, std::string tabbed);
/// What stands in front of the name and the degree of each row.
[[nodiscard]] std::string degree_header(result_format format, const result_context& context);
/// What stands in front of a dense result of `rows` rows and as many columns as context says.
[[nodiscard]] std::string dense_header(result_format format, index_t rows,
                                       const result_context& context);

/// What numbers and separators of an edge take as text, as measured on real tables.
inline constexpr double edge_numbers_bytes = 40;
/// Bytes of one edge in the output, for estimates.
[[nodiscard]] double edge_bytes(result_format format, const result_context& context);

}  // namespace gpu::io
