#include "io/networks/network_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/io_error.hpp"
#include "io/networks/xml_text.hpp"
#include "io/write/buffered_text.hpp"
#include "io/write/parallel_text.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t number_room = 32;  // of an integer or a double, and what stands beside it

template <class Number>
char* append_number(char* out, Number value) {
  return std::to_chars(out, out + number_room, value).ptr;
}

void write_matrix(output_file& out, std::span<const edge> edges, const result_context& context) {
  const bool is_symmetric = context.against == nullptr;
  out.write(fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                        is_symmetric ? "symmetric" : "general", context.rows, context.cols(),
                        edges.size()));
  parallel_text text(out, context.threads);
  text.write(std::ssize(edges), 3 * number_room, [&](char* to, index_t first, index_t last) {
    for (const edge& e :
         edges.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first))) {
      const index_t row = index_t{e.row} + 1;
      const index_t col = index_t{e.col} + 1;
      to = append_number(to, is_symmetric ? col : row);
      *to++ = ' ';
      to = append_number(to, is_symmetric ? row : col);
      *to++ = ' ';
      to = append_number(to, e.statistic);
      *to++ = '\n';
    }
    return to;
  });
}

std::string_view relation_of(double statistic) {
  if (statistic == 0) return "zero";
  return statistic > 0 ? "positive" : "negative";
}

void write_sif(output_file& out, std::span<const edge> edges, const result_context& context) {
  buffered_text text(out);
  for (const edge& e : edges) {
    fmt::format_to(text.end(), "{}\t{}\t{}", context.row_name(e.row), relation_of(e.statistic),
                   context.col_name(e.col));
    text.end_line();
  }
  text.flush();
}

void write_ncol(output_file& out, std::span<const edge> edges, const result_context& context) {
  const bool has_numbers = are_numbered(context);
  const index_t first_of_y = context.against != nullptr ? context.rows : 0;
  buffered_text text(out);
  for (const edge& e : edges) {
    if (has_numbers) {
      fmt::format_to(text.end(), "{} {} {}", e.row, first_of_y + index_t{e.col}, e.statistic);
    } else {
      fmt::format_to(text.end(), "{} {} {}", context.row_name(e.row), context.col_name(e.col),
                     e.statistic);
    }
    text.end_line();
  }
  text.flush();
}

/// One file of GraphML.
class graphml_writer {
 public:
  graphml_writer(output_file& out, const result_context& context)
      : text_(out), context_(context), has_p_(context.info().test != significance::none) {}

  void write(std::span<const edge> edges, std::span<const double> q) {
    write_head(!q.empty());
    write_nodes(edges);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const edge& e = edges[i];
      fmt::format_to(text_.end(),
                     "    <edge source=\"{}{}\" target=\"{}{}\"><data key=\"s\">{}</data>",
                     letter_of_x(), e.row, letter_of_y(), e.col, e.statistic);
      if (has_p_) fmt::format_to(text_.end(), "<data key=\"p\">{:.6g}</data>", e.p);
      if (context_.has_n) {
        fmt::format_to(text_.end(), "<data key=\"n\">{}</data>",
                       context_.observations_of(index_t{e.row}, index_t{e.col}));
      }
      if (context_.has_intervals()) {
        const auto [lower, upper] =
            context_.interval_of(e.statistic, index_t{e.row}, index_t{e.col});
        fmt::format_to(text_.end(), "<data key=\"l\">{:.6g}</data><data key=\"u\">{:.6g}</data>",
                       lower, upper);
      }
      if (!q.empty()) fmt::format_to(text_.end(), "<data key=\"q\">{:.6g}</data>", q[i]);
      line("</edge>");
    }
    line("  </graph>");
    line("</graphml>");
    text_.flush();
  }

 private:
  void line(std::string_view words) {
    fmt::format_to(text_.end(), "{}", words);
    text_.end_line();
  }
  void key(std::string_view id, std::string_view of, std::string_view name, std::string_view type) {
    line(fmt::format("  <key id=\"{}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{}\"/>", id, of,
                     name, type));
  }
  [[nodiscard]] char letter_of_x() const { return context_.against != nullptr ? 'x' : 'n'; }
  [[nodiscard]] char letter_of_y() const { return context_.against != nullptr ? 'y' : 'n'; }

  void write_head(bool has_q) {
    line(R"(<?xml version="1.0" encoding="UTF-8"?>)");
    line(R"(<graphml xmlns="http://graphml.graphdrawing.org/xmlns")");
    line(R"(         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance")");
    line(R"(         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns)");
    line(R"(         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">)");
    key("name", "node", "name", "string");
    key("row", "node", "row", "long");
    if (context_.against != nullptr) key("table", "node", "table", "string");
    key("s", "edge", context_.info().symbol, "double");
    if (has_p_) key("p", "edge", "p", "double");
    if (context_.has_n) key("n", "edge", "n", "long");
    if (context_.has_intervals()) {
      key("l", "edge", "lower", "double");
      key("u", "edge", "upper", "double");
    }
    if (has_q) key("q", "edge", "q", "double");
    line(R"(  <graph id="G" edgedefault="undirected">)");
  }

  /// Those of x before those of y, each in the order of its table.
  void write_nodes(std::span<const edge> edges) {
    const index_t first_of_y = context_.against != nullptr ? context_.rows : 0;
    std::vector<bool> has_edge(static_cast<std::size_t>(context_.all_rows()));
    for (const edge& e : edges) {
      has_edge[e.row] = true;
      has_edge[static_cast<std::size_t>(first_of_y + index_t{e.col})] = true;
    }
    for (index_t i = 0; i < context_.all_rows(); ++i) {
      if (!has_edge[static_cast<std::size_t>(i)]) continue;
      const bool is_of_y = context_.against != nullptr && i >= context_.rows;
      const index_t row = is_of_y ? i - context_.rows : i;
      fmt::format_to(
          text_.end(),
          "    <node id=\"{}{}\"><data key=\"name\">{}</data><data key=\"row\">{}</data>",
          is_of_y ? letter_of_y() : letter_of_x(), row, xml_text(context_.stacked_name(i)), row);
      if (context_.against != nullptr) {
        fmt::format_to(text_.end(), "<data key=\"table\">{}</data>", is_of_y ? 'y' : 'x');
      }
      line("</node>");
    }
  }

  buffered_text text_;
  const result_context& context_;
  bool has_p_;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

bool is_number(std::string_view name) {
  if (name.starts_with('+')) name.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error != std::errc::invalid_argument && end == name.data() + name.size();
}

/// "row 3", of x against y "row 3 of y"; from 1, as tables of text are counted.
std::string row_text(index_t stacked, const result_context& context) {
  if (context.against == nullptr) return fmt::format("row {}", stacked + 1);
  const bool is_of_y = stacked >= context.rows;
  return fmt::format("row {} of {}", (is_of_y ? stacked - context.rows : stacked) + 1,
                     is_of_y ? "--against" : "INPUT");
}

/// Of all rows, those of y behind those of x, in the order of their names, then of their numbers.
std::vector<std::pair<std::string, index_t>> sorted_names(const result_context& context) {
  std::vector<std::pair<std::string, index_t>> names;
  names.reserve(static_cast<std::size_t>(context.all_rows()));
  for (index_t i = 0; i < context.all_rows(); ++i) names.emplace_back(context.stacked_name(i), i);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void write_network(result_format format, output_file& out, std::span<const edge> edges,
                   std::span<const double> q, const result_context& context) {
  switch (format) {
    case result_format::matrix_market:
      return write_matrix(out, edges, context);
    case result_format::graphml:
      return graphml_writer(out, context).write(edges, q);
    case result_format::sif:
      return write_sif(out, edges, context);
    case result_format::ncol:
      return write_ncol(out, edges, context);
    case result_format::tsv:
    case result_format::csv:
    case result_format::npy:
    case result_format::parquet:
      break;
  }
  throw output_error(out.name(), "expected the format of a network");
}

bool are_numbered(const result_context& context) {
  const auto all = [](const row_names& names, index_t rows) {
    if (!names.given()) return false;
    for (index_t i = 0; i < rows; ++i) {
      if (!is_number(names[i])) return false;
    }
    return true;
  };
  return all(context.names, context.rows) &&
         (context.against == nullptr || all(*context.against, context.against_rows));
}

std::string unfit_names(result_format format, const result_context& context) {
  if (format != result_format::sif && format != result_format::ncol) return "";
  const bool are_made =
      !context.names.given() && (context.against == nullptr || !context.against->given());
  if (are_made || (format == result_format::ncol && are_numbered(context))) return "";
  const auto names = sorted_names(context);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& [name, row] = names[i];
    if (name.empty()) return fmt::format("got no name of {}", row_text(row, context));
    if (i + 1 < names.size() && names[i + 1].first == name) {
      return fmt::format("got the name {} of {} and of {}, expected each once", quoted(name),
                         row_text(row, context), row_text(names[i + 1].second, context));
    }
    if (format == result_format::ncol && std::any_of(name.begin(), name.end(), is_blank)) {
      return fmt::format("got the name {} of {}, expected names without blanks", quoted(name),
                         row_text(row, context));
    }
  }
  return "";
}

double network_edge_bytes(result_format format, double names_bytes) {
  constexpr double statistic = 20;
  constexpr double indices = 14;
  constexpr double tags = 130;  // p and a share of the nodes included
  if (format == result_format::matrix_market) return statistic + indices;
  if (format == result_format::graphml) return tags + names_bytes + statistic;
  return names_bytes + (format == result_format::sif ? 10 : statistic + 3);
}

}  // namespace gpu::io
