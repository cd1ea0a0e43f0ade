#include "io/write/edges/folded_writer.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/io_error.hpp"
#include "io/npy_header.hpp"
#include "io/write/buffered_text.hpp"
#include "io/write/edges/edge_text.hpp"
#include "io/write/result_headers.hpp"

namespace gpu::io {
namespace {

constexpr char names_of_columns[] = "name_i\tname_j\t{}\tpairs";

// A folded edge in memory is the record that the header describes.
static_assert(sizeof(folded_edge) == 32 && std::is_trivially_copyable_v<folded_edge>);
static_assert(offsetof(folded_edge, second) == 4 && offsetof(folded_edge, statistic) == 8 &&
              offsetof(folded_edge, p) == 16 && offsetof(folded_edge, pairs) == 24);

std::string folded_header(const result_context& context, std::uint64_t count) {
  const std::size_t header_bytes = context.has_intervals() ? 256 : 192;  // for any number
  const std::string record = fmt::format(
      "[('first', '<u4'), ('second', '<u4'), ('statistic', '<f8'), ('p', '<f8'){}, "
      "('pairs', '<u8')]",
      context.has_intervals() ? ", ('lower', '<f8'), ('upper', '<f8')" : "");
  return make_npy_header(record, {static_cast<index_t>(count)}, header_bytes);
}

/// A folded edge with the bounds of its interval, as a record.
struct folded_interval {
  node_id first;
  node_id second;
  double statistic;
  double p;
  confidence_bounds bounds;
  std::uint64_t pairs;
};
static_assert(sizeof(folded_interval) == 48 && offsetof(folded_interval, bounds) == 24);

std::string name_of(node_id pattern, const row_patterns& patterns, const result_context& context) {
  return context.stacked_name(patterns.members_of(pattern).front());
}

class tsv_writer final : public folded_edge_writer {
 public:
  tsv_writer(result_format format, output_file& out, const row_patterns& patterns,
             const result_context& context)
      : text_(out),
        separator_(separator_of(format)),
        patterns_(patterns),
        context_(context),
        statistics_(context, separator_) {
    if (context.frame == result_frame::rows_only) return;
    // Into the buffer: it reaches the file with the first edges.
    fmt::format_to(text_.end(), "{}", folded_edge_header(format, context, 0));
  }
  void write(std::span<const folded_edge> edges) override {
    std::array<char, statistic_text::room> numbers;
    for (const folded_edge& e : edges) {
      const char* const end = statistics_.append(numbers.data(), e.statistic, e.p);
      const std::string_view middle(numbers.data(),
                                    static_cast<std::size_t>(end - numbers.data()) - 1);
      fmt::format_to(text_.end(), FMT_COMPILE("{}{}{}{}{}{}"),
                     name_of(e.first, patterns_, context_), separator_,
                     name_of(e.second, patterns_, context_), middle, separator_, e.pairs);
      text_.end_line();
    }
  }
  void finish() override { text_.flush(); }

 private:
  buffered_text text_;
  char separator_;
  const row_patterns& patterns_;
  const result_context& context_;
  statistic_text statistics_;
};

class npy_writer final : public folded_edge_writer {
 public:
  npy_writer(output_file& out, const result_context& context) : out_(out), context_(context) {
    if (context.frame == result_frame::rows_only) return;
    if (!out.can_replace()) {
      throw output_error(out.name(), "edges as .npy need a regular file, their number comes first");
    }
    out_.write(folded_header(context, 0));
  }
  void write(std::span<const folded_edge> edges) override {
    if (context_.has_intervals()) {
      write_intervals(edges);
    } else {
      out_.write(bytes_of(edges));
    }
    count_ += edges.size();
  }
  void finish() override {
    if (context_.frame == result_frame::rows_only) return;
    out_.replace(0, folded_header(context_, count_));
  }

 private:
  void write_intervals(std::span<const folded_edge> edges) {
    std::vector<folded_interval> records;
    records.reserve(edges.size());
    for (const folded_edge& e : edges) {
      // Rows that fold miss no value: all pairs have the observations of the table.
      const confidence_bounds bounds = confidence_interval(
          context_.what, e.statistic, context_.observations, context_.confidence);
      records.push_back({e.first, e.second, e.statistic, e.p, bounds, e.pairs});
    }
    out_.write(bytes_of(std::span<const folded_interval>(records)));
  }

  output_file& out_;
  const result_context& context_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<folded_edge_writer> make_folded_edge_writer(result_format format, output_file& out,
                                                            const row_patterns& patterns,
                                                            const result_context& context) {
  if (format == result_format::npy) return std::make_unique<npy_writer>(out, context);
  return std::make_unique<tsv_writer>(format, out, patterns, context);
}

std::string folded_edge_header(result_format format, const result_context& context,
                               std::uint64_t count) {
  if (format == result_format::npy) return folded_header(context, count);
  return header_line(format, fmt::format(names_of_columns, statistic_columns(context)) + "\n");
}

void write_patterns(result_format format, output_file& out, const row_patterns& patterns,
                    const result_context& context) {
  if (format == result_format::npy) {
    out.write(make_npy_header("'<u4'", {context.all_rows()}));
    out.write(bytes_of(std::span<const node_id>(patterns.pattern_of)));
    return;
  }
  out.write(header_line(format,
                        context.against != nullptr ? "table\tname\tpattern\n" : "name\tpattern\n"));
  const char separator = separator_of(format);
  buffered_text text(out);
  for (index_t i = 0; i < context.all_rows(); ++i) {
    const node_id pattern = patterns.pattern_of[static_cast<std::size_t>(i)];
    fmt::format_to(
        text.end(), FMT_COMPILE("{}{}{}{}"), context.table_column(i, separator),
        context.stacked_name(i), separator,
        pattern == row_patterns::no_pattern ? std::string() : name_of(pattern, patterns, context));
    text.end_line();
  }
  text.flush();
}

}  // namespace gpu::io
