#include "io/write/result_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "io/npy_header.hpp"
#include "io/write/edges/edge_records.hpp"

namespace gpu::io {
namespace {

constexpr double interval_text_bytes = 20;  // of both bounds

/// The names of the columns of a statistic and what follows from it, as "rho\tt\tp".
std::string statistic_columns(const result_context& context) {
  std::string names(context.info().symbol);
  switch (context.info().test) {
    case significance::none:
      break;
    case significance::student_t:
    case significance::floored_t:
      names += "\tt\tp";
      break;
    case significance::kendall:
    case significance::permutations:
      names += "\tp";
  }
  if (context.has_n) names += "\tn";
  if (context.has_intervals()) names += "\tlower\tupper";
  return names;
}

/// What stands in front of so many records.
std::string record_header(const result_context& context, bool has_q, std::uint64_t records) {
  // Room for any number of records.
  const std::size_t header_bytes = context.has_columns_behind_p() ? 256 : 192;
  std::string fields = "[('row', '<u4'), ('col', '<u4'), ('statistic', '<f8'), ('p', '<f8')";
  if (context.has_n) fields += ", ('n', '<u4')";
  if (context.has_intervals()) fields += ", ('lower', '<f8'), ('upper', '<f8')";
  if (has_q) fields += ", ('q', '<f8')";
  return make_npy_header(fields + "]", {static_cast<index_t>(records)}, header_bytes);
}

}  // namespace

std::string header_line(result_format format, std::string tabbed) {
  std::replace(tabbed.begin(), tabbed.end(), '\t', separator_of(format));
  return tabbed;
}

std::string degree_header(result_format format, const result_context& context) {
  return header_line(format,
                     context.against != nullptr ? "table\tname\tdegree\n" : "name\tdegree\n");
}

std::string pair_header(result_format format, const result_context& context, pair_rows kind,
                        bool has_q, std::uint64_t count) {
  if (format == result_format::npy) return record_header(context, has_q, count);
  return header_line(
      format, fmt::format("name_i\t{}name_j\t{}{}\n", kind == pair_rows::partners ? "rank\t" : "",
                          statistic_columns(context), has_q ? "\tq" : ""));
}

std::string dense_header(result_format format, index_t rows, const result_context& context) {
  if (format == result_format::npy) return make_npy_header("'<f8'", {rows, context.cols()});
  std::string header = "name";
  for (index_t j = 0; j < context.cols(); ++j) {
    header.append(1, separator_of(format)).append(context.col_name(j));
  }
  return header + "\n";
}

double edge_bytes(result_format format, const result_context& context) {
  if (format == result_format::npy) return static_cast<double>(record_bytes(context));
  const std::size_t longest = context.names.longest(context.rows);
  const std::size_t other =
      context.against != nullptr ? context.against->longest(context.against_rows) : longest;
  const double intervals = context.has_intervals() ? interval_text_bytes : 0;
  const std::size_t n =
      context.has_n ? fmt::formatted_size("\t{}", static_cast<index_t>(context.observations)) : 0;
  return static_cast<double>(longest + other + n) + edge_numbers_bytes + intervals;
}

}  // namespace gpu::io
