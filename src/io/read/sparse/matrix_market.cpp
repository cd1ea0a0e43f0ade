#include "io/read/sparse/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/io_error.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/read/sparse/mtx_entries.hpp"
#include "io/read/sparse/names_beside.hpp"
#include "io/read/sparse/sparse_rows.hpp"

namespace gpu::io {
namespace {

// The values of a segment stay in the second-level cache while it is read.
constexpr std::size_t segment_bytes = std::size_t{256} << 10;

mtx_header read_header(numbered_lines& walk, const std::string& file) {
  mtx_header out;
  std::string_view line;
  if (!walk.next(line)) throw input_error(file, {}, "is empty, expected a matrix");
  take_banner(line, file, out);
  while (walk.next(line)) {
    const std::size_t text = line.find_first_not_of(" \t\r");
    if (text == std::string_view::npos || line[text] == '%') continue;
    take_sizes(line, walk.number(), file, out);
    return out;
  }
  throw input_error(file, {walk.number(), 0},
                    "got the end of the file, expected the numbers of rows, columns and entries");
}

// Where the segments of `block` begin, and its end.
std::vector<std::size_t> bounds_of(std::string_view block) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t at = segment_bytes; at < block.size(); at += segment_bytes) {
    const std::size_t newline = block.find('\n', std::max(at, bounds.back()) - 1);
    if (newline == std::string_view::npos || newline + 1 >= block.size()) break;
    if (newline + 1 > bounds.back()) bounds.push_back(newline + 1);
  }
  bounds.push_back(block.size());
  return bounds;
}

class mtx_body {
 public:
  mtx_body(const mtx_header& header, const read_options& options, const std::string& file)
      : header_(header), options_(options), file_(file) {}

  void read(numbered_lines& walk) {
    index_t lines = walk.number();
    const int team = detail::thread_count(options_.threads);
    std::vector<mtx_line_reader> readers(static_cast<std::size_t>(team),
                                         mtx_line_reader(header_, options_.transposes));
    for (std::string_view block = walk.ahead(); !block.empty(); block = walk.next_block()) {
      const std::vector<std::size_t> bounds = bounds_of(block);
      std::vector<mtx_lines> read(bounds.size() - 1);
      std::atomic<std::size_t> stop_at{read.size()};
      detail::parallel_for(std::ssize(read), team, [&](index_t task, int thread) {
        const auto k = static_cast<std::size_t>(task);
        if (k > stop_at.load(std::memory_order_relaxed)) return;
        read[k] = readers[static_cast<std::size_t>(thread)].read(
            block.substr(bounds[k], bounds[k + 1] - bounds[k]));
        if (read[k].error) stop_at = std::min(stop_at.load(), k);
      });
      for (mtx_lines& some : read) lines = take(some, lines);
    }
    if (entries_ < header_.entries) refuse_count("");
  }

  [[nodiscard]] sparse_file finish() {
    index_t rows = header_.rows;
    index_t cols = header_.cols;
    if (options_.transposes) std::swap(rows, cols);
    return {.matrix = assemble(std::move(pieces_), rows, cols, header_.mirror, options_.threads),
            .first_nan = first_nan_};
  }

 private:
  // Adds what stands behind line `lines`; the lines before what follows.
  index_t take(mtx_lines& some, index_t lines) {
    if (some.error) {
      input_position where = some.error->where;
      where.line += lines + 1;
      throw input_error(file_, where, some.error->what);
    }
    if (some.first_nan && !first_nan_) first_nan_ = input_position{lines + *some.first_nan + 1, 3};
    entries_ += static_cast<index_t>(some.entries.row.size());
    if (entries_ > header_.entries) refuse_count("at least ");
    if (!some.entries.row.empty()) pieces_.push_back(std::move(some.entries));
    return lines + some.lines;
  }

  [[noreturn]] void refuse_count(const char* at_least) const {
    throw input_error(file_, {header_.size_line, 3},
                      fmt::format("got {}{} entries, expected the {} that this line says", at_least,
                                  entries_, header_.entries));
  }

  mtx_header header_;
  const read_options& options_;
  const std::string& file_;
  std::vector<entry_piece> pieces_;
  index_t entries_ = 0;
  std::optional<input_position> first_nan_;
};

}  // namespace

sparse_file read_matrix_market(std::unique_ptr<line_source> source, const read_options& options,
                               const std::string& file) {
  numbered_lines walk(std::move(source));
  const mtx_header header = read_header(walk, file);
  mtx_body body(header, options, file);
  body.read(walk);
  return body.finish();
}

std::unique_ptr<row_reader> open_matrix_market(input& file, const read_options& options) {
  sparse_file what = read_matrix_market(file.lines(), options, file.name());
  name_from_beside(file, options, what);
  return std::make_unique<sparse_rows>(std::move(what), options, file.name(), file.max_bytes());
}

}  // namespace gpu::io
