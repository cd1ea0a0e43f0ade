#include "io/write/edges/adjusted_edges.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <gpu/p_value.hpp>

#include "io/write/edges/edge_records.hpp"
#include "io/write/edges/edge_text.hpp"
#include "io/write/parallel_text.hpp"
#include "io/write/result_headers.hpp"
#include "io/write/six_digits.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t q_room = 2 + digits_longest;  // a separator, and the end of the line

void write_adjusted_records(output_file& out, std::span<const edge> edges,
                            std::span<const double> q, const result_context& context) {
  constexpr std::size_t block = std::size_t{1} << 15;
  block_text records;
  for (std::size_t i = 0; i < edges.size(); i += block) {
    const std::size_t count = std::min(block, edges.size() - i);
    out.write(make_records(edges.subspan(i, count), q.subspan(i, count), context, records));
  }
}

/// Behind a line whose end is taken off.
char* append_q(char* out, char separator, double q, int digits) {
  *out++ = separator;
  out = append_digits(out, q, digits);
  *out++ = '\n';
  return out;
}

}  // namespace

void write_adjusted_edges(result_format format, output_file& out, std::span<const edge> edges,
                          std::span<const double> q, const result_context& context) {
  out.write(pair_header(format, context, pair_rows::edges, true, edges.size()));
  if (format == result_format::npy) return write_adjusted_records(out, edges, q, context);
  const char separator = separator_of(format);
  const auto longest_col = context.against != nullptr
                               ? context.against->longest(context.against_rows)
                               : context.names.longest(context.rows);
  const std::size_t longest =
      context.names.longest(context.rows) + longest_col + 1 + statistic_text::room + q_room;
  parallel_text text(out, context.threads);
  text.write(std::ssize(edges), longest, [&](char* to, index_t first, index_t last) {
    statistic_text statistics(context, separator);
    for (index_t i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const edge& e = edges[at];
      to = append(to, context.row_name(e.row));
      *to++ = separator;
      to = append(to, context.col_name(e.col));
      const observation_count observations = context.observations_of(e.row, e.col);
      to = append_q(statistics.append(to, e.statistic, e.p, observations) - 1, separator, q[at],
                    context.digits);
    }
    return to;
  });
}

/// A row of text is a line: names have no line ends (cleaned_name()).
template <class Row>
void adjusted_rows::for_each_row(std::string_view bytes, const Row& row) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = format_ == result_format::npy ? begin + record_bytes(context_)
                                                          : rest_.find('\n', begin) + 1;
    if (end == 0 || end > rest_.size()) break;
    row(std::string_view(rest_).substr(begin, end - begin));
    begin = end;
  }
  rest_.erase(0, begin);
}

/// Text has six digits of p: it follows from the statistic, which stands there in full, third from
/// the end, or with the bounds of its interval fifth.
double adjusted_rows::p_of(std::string_view row) const {
  if (format_ == result_format::npy) {
    edge e{};
    std::memcpy(&e, row.data(), sizeof(e));
    return e.p;
  }
  const char separator = separator_of(format_);
  if (context_.has_intervals()) row = row.substr(0, row.rfind(separator, row.rfind(separator) - 1));
  const std::size_t before_p = row.rfind(separator);
  const std::size_t before_t = row.rfind(separator, before_p - 1);
  const std::size_t begin = row.rfind(separator, before_t - 1) + 1;
  double statistic = 0;
  (void)std::from_chars(row.data() + begin, row.data() + before_t, statistic);
  return context_.p_of(statistic, 0, 0);
}

void adjusted_rows::learn(std::string_view bytes) {
  for_each_row(bytes, [&](std::string_view row) { q_.push_back(p_of(row)); });
}

void adjusted_rows::adjust(std::uint64_t family, adjustment how) {
  q_ = adjusted_p_values(std::span<const double>(q_), family, how);
}

void adjusted_rows::adjust_within(std::span<double> tests, std::uint64_t family, adjustment how) {
  q_ = adjusted_p_values(std::span<const double>(q_), tests, family, how,
                         {.cpu_threads = context_.threads});
}

std::string adjusted_rows::with_q(std::string_view bytes) {
  std::string out;
  std::array<char, q_room> text;
  for_each_row(bytes, [&](std::string_view row) {
    const double q = q_.at(next_++);
    if (format_ == result_format::npy) {
      out.append(row).append(reinterpret_cast<const char*>(&q), sizeof(q));
      return;
    }
    char* const end = append_q(text.data(), separator_of(format_), q, context_.digits);
    out.append(row.substr(0, row.size() - 1)).append(text.data(), end);
  });
  return out;
}

}  // namespace gpu::io
