#include "io/write/result_writer.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "base/parallel.hpp"
#include "io/io_error.hpp"
#include "io/npy_header.hpp"
#include "io/write/buffered_text.hpp"
#include "io/write/edges/edge_records.hpp"
#include "io/write/edges/edge_text.hpp"
#include "io/write/result_headers.hpp"
#include "io/write/six_digits.hpp"

namespace gpu::io {
namespace {

class edge_npy_writer final : public edge_writer {
 public:
  edge_npy_writer(output_file& out, const result_context& context)
      : context_(context), out_(with_header(out, context)) {
    const auto threads = static_cast<std::size_t>(detail::thread_count(context.threads));
    if (context.has_columns_behind_p()) {
      pipeline_.emplace(out, threads, block_edges,
                        [this](std::span<const edge> edges, std::size_t, block_text& bytes) {
                          return make_records(edges, {}, context_, bytes);
                        });
    } else {
      pipeline_.emplace(out, std::min(threads, output_file::most_place_threads), block_edges);
    }
  }
  void write(std::span<const edge> edges) override { pipeline_->push(edges); }
  void finish() override {
    pipeline_->finish();
    if (context_.frame == result_frame::rows_only) return;
    out_.replace(0, header_of(context_, pipeline_->edges()));
  }

 private:
  static constexpr std::size_t block_edges = std::size_t{1} << 16;

  static std::string header_of(const result_context& context, std::uint64_t edges) {
    return pair_header(result_format::npy, context, pair_rows::edges, false, edges);
  }

  static output_file& with_header(output_file& out, const result_context& context) {
    if (context.frame == result_frame::rows_only) return out;
    if (!out.can_replace()) {
      throw output_error(out.name(), "edges as .npy need a regular file, their number comes first");
    }
    out.write(header_of(context, 0));
    return out;
  }

  const result_context context_;
  output_file& out_;
  std::optional<edge_pipeline> pipeline_;  // last: its threads use the others
};

template <class T>
void append_value(buffered_text& text, T value, int digits) {
  if constexpr (std::is_floating_point_v<T>) {
    if (digits > 0) {
      std::array<char, digits_longest> number;
      const char* const end = append_digits(number.data(), value, digits);
      fmt::format_to(text.end(), "{}", std::string_view(number.data(), end));
      return;
    }
    if (std::isnan(value)) {
      fmt::format_to(text.end(), "NaN");
      return;
    }
  }
  fmt::format_to(text.end(), FMT_COMPILE("{}"), value);
}

/// A header, then each row; as text behind its name.
template <class T>
void write_matrix(result_format format, output_file& out, const matrix<T>& result,
                  std::string_view header, const result_context& context) {
  if (context.frame == result_frame::whole) out.write(header);
  if (format == result_format::npy) {
    for (index_t i = 0; i < result.rows(); ++i) out.write(bytes_of(result.row(i)));
    return;
  }
  buffered_text text(out);
  for (index_t i = 0; i < result.rows(); ++i) {
    fmt::format_to(text.end(), FMT_COMPILE("{}"), context.row_name(context.first_row + i));
    for (const T value : result.row(i)) {
      fmt::format_to(text.end(), "{}", separator_of(format));
      append_value(text, value, context.digits);
    }
    text.end_line();
  }
  text.flush();
}

}  // namespace

std::unique_ptr<edge_writer> make_edge_writer(result_format format, output_file& out,
                                              const result_context& context) {
  if (format == result_format::npy) {
    return std::make_unique<edge_npy_writer>(out, context);
  }
  return std::make_unique<edge_text_writer>(format, out, context);
}

namespace {

bool has_q(const neighbor_table& result) {
  return result.q.cols() > 0;
}

void write_neighbor_records(output_file& out, const neighbor_table& result,
                            const result_context& context) {
  std::vector<edge> row_edges;
  block_text records;
  partner_p p(result, context);
  for (index_t i = 0; i < std::ssize(result.count); ++i) {
    row_edges.clear();
    for (index_t k = 0; k < result.count[static_cast<std::size_t>(i)]; ++k) {
      const double statistic = result.statistic(i, k);
      const index_t row = context.first_row + i;
      row_edges.push_back({static_cast<node_id>(row), result.index(i, k), statistic,
                           p.next(statistic, row, index_t{result.index(i, k)})});
    }
    const std::span<const double> q =
        has_q(result) ? result.q.row(i).first(row_edges.size()) : std::span<const double>();
    out.write(make_records(row_edges, q, context, records));
  }
}

void write_neighbor_lines(char separator, output_file& out, const neighbor_table& result,
                          const result_context& context) {
  constexpr std::size_t q_room = 1 + digits_longest;
  buffered_text text(out);
  statistic_text statistics(context, separator);
  std::array<char, statistic_text::room + q_room> numbers;
  partner_p p(result, context);
  for (index_t i = 0; i < std::ssize(result.count); ++i) {
    const index_t row = context.first_row + i;
    const std::string name = context.row_name(row);
    for (index_t k = 0; k < result.count[static_cast<std::size_t>(i)]; ++k) {
      const double statistic = result.statistic(i, k);
      const index_t col{result.index(i, k)};
      char* end = statistics.append(numbers.data(), statistic, p.next(statistic, row, col),
                                    context.observations_of(row, col)) -
                  1;  // a line's end
      if (has_q(result)) {
        *end++ = separator;
        end = append_digits(end, result.q(i, k), context.digits);
      }
      fmt::format_to(
          text.end(), FMT_COMPILE("{}{}{}{}{}{}"), name, separator, k + 1, separator,
          context.col_name(col),
          std::string_view(numbers.data(), static_cast<std::size_t>(end - numbers.data())));
      text.end_line();
    }
  }
  text.flush();
}

}  // namespace

void write_neighbors(result_format format, output_file& out, const neighbor_table& result,
                     const result_context& context) {
  if (context.frame == result_frame::whole) {
    std::uint64_t total = 0;
    for (const node_id count : result.count) total += count;
    out.write(pair_header(format, context, pair_rows::partners, has_q(result), total));
  }
  if (format == result_format::npy) return write_neighbor_records(out, result, context);
  write_neighbor_lines(separator_of(format), out, result, context);
}

void write_counts(result_format format, output_file& out, const pair_counts& result,
                  const result_context& context) {
  if (format == result_format::npy) {
    out.write(make_npy_header("'<u4'", {context.all_rows()}));
    out.write(bytes_of(std::span<const std::uint32_t>(result.degree)));
    out.write(bytes_of(std::span<const std::uint32_t>(result.y_degree)));
    return;
  }
  out.write(degree_header(format, context));
  const char separator = separator_of(format);
  buffered_text text(out);
  for (index_t i = 0; i < context.all_rows(); ++i) {
    const std::uint32_t degree = i < context.rows
                                     ? result.degree[static_cast<std::size_t>(i)]
                                     : result.y_degree[static_cast<std::size_t>(i - context.rows)];
    fmt::format_to(text.end(), FMT_COMPILE("{}{}{}{}"), context.table_column(i, separator),
                   context.stacked_name(i), separator, degree);
    text.end_line();
  }
  text.flush();
}

void write_dense(result_format format, output_file& out, const matrix<double>& result,
                 const result_context& context) {
  write_matrix(format, out, result, dense_header(format, result.rows(), context), context);
}

void write_observations(result_format format, output_file& out, const matrix<node_id>& result,
                        const result_context& context) {
  const std::string header = format == result_format::npy
                                 ? make_npy_header("'<u4'", {result.rows(), context.cols()})
                                 : dense_header(format, result.rows(), context);
  write_matrix(format, out, result, header, context);
}

}  // namespace gpu::io
