#include "io/read/sparse/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/read/sparse/entries.hpp"
#include "io/read/sparse/names_beside.hpp"
#include "io/text/number.hpp"

namespace gpu::io {
namespace {

// What stands behind row and column of an entry.
enum class mtx_field { integer, real, pattern };

struct mtx_header {
  mtx_field field = mtx_field::real;
  bool is_symmetric = false;
  index_t rows = 0;
  index_t cols = 0;
  index_t entries = 0;
  index_t size_line = 0;  // where the three numbers stand, from 1
};

constexpr std::string_view blanks = " \t\r";

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(blanks), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

[[noreturn]] void refuse_word(const std::string& file, index_t column, std::string_view got,
                              std::string_view expected) {
  throw input_error(file, {1, column}, fmt::format("got {}, expected {}", quoted(got), expected));
}

// Takes the line of the format, the first: neither dense arrays nor complex numbers.
void take_banner(std::string_view line, const std::string& file, mtx_header& out) {
  const std::string_view magic = next_word(line);
  if (gpu::detail::lower(magic) != "%%matrixmarket") refuse_word(file, 1, magic, "%%MatrixMarket");
  const std::string object = gpu::detail::lower(next_word(line));
  if (object != "matrix") refuse_word(file, 2, object, "matrix");
  const std::string format = gpu::detail::lower(next_word(line));
  if (format != "coordinate") {
    refuse_word(file, 3, format, "coordinate: dense arrays are read as text or .npy");
  }
  const std::string field = gpu::detail::lower(next_word(line));
  if (field == "integer" || field == "unsigned-integer") {
    out.field = mtx_field::integer;
  } else if (field == "real" || field == "double") {
    out.field = mtx_field::real;
  } else if (field == "pattern") {
    out.field = mtx_field::pattern;
  } else {
    refuse_word(file, 4, field, "integer, real or pattern");
  }
  const std::string symmetry = gpu::detail::lower(next_word(line));
  if (symmetry == "general") {
    out.is_symmetric = false;
  } else if (symmetry == "symmetric") {
    out.is_symmetric = true;
  } else {
    refuse_word(file, 5, symmetry, "general or symmetric");
  }
  const std::string_view more = next_word(line);
  if (!more.empty()) refuse_word(file, 6, more, "the end of the line");
}

// Takes line `number`, which has the numbers of rows, columns and entries. Memory is taken for each
// row, also for those that store nothing: more than files of so many entries have are refused.
void take_sizes(std::string_view line, index_t number, const std::string& file, mtx_header& out) {
  constexpr std::array<std::string_view, 3> what{"rows", "columns", "entries"};
  const std::array<index_t*, 3> sizes{&out.rows, &out.cols, &out.entries};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::string_view word = next_word(line);
    *sizes[k] = gpu::detail::parsed<index_t>(word).value_or(-1);
    if (*sizes[k] < 0) {
      throw input_error(file, {number, static_cast<index_t>(k) + 1},
                        fmt::format("got {}, expected the number of {}", quoted(word), what[k]));
    }
  }
  const std::string_view more = next_word(line);
  if (!more.empty()) {
    throw input_error(
        file, {number, 4},
        fmt::format("got {}, expected three numbers: rows, columns, entries", quoted(more)));
  }
  out.size_line = number;
  if (out.is_symmetric && out.rows != out.cols) {
    throw input_error(
        file, {number, 0},
        fmt::format("got {} rows and {} columns, expected as many of a symmetric matrix", out.rows,
                    out.cols));
  }
  // Without the product, which may be beyond 64 bits.
  const bool has_places = out.rows > 0 && out.cols > 0;
  if (out.entries > 0 && (!has_places || (out.entries - 1) / out.rows >= out.cols)) {
    throw input_error(file, {number, 0},
                      fmt::format("got {} entries of {} rows and {} columns, expected none twice",
                                  out.entries, out.rows, out.cols));
  }
  constexpr index_t always = index_t{1} << 24;
  constexpr index_t most_per_entry = 100;
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  const index_t longest = std::max(out.rows, out.cols);
  if (longest <= always || (longest <= most && longest / most_per_entry <= out.entries)) return;
  throw input_error(
      file, {number, 0},
      fmt::format("got {} rows and {} columns for {} entries, expected at most {} of either, or {} "
                  "for each entry and {} in all",
                  out.rows, out.cols, out.entries, always, most_per_entry, most));
}

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

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
  return static_cast<unsigned>(c - '0') <= 9U;
}

void skip_blanks(const char*& p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
}

std::string_view word_at(const char* p, const char* end) {
  const char* const begin = p;
  while (p != end && *p != '\n' && !is_blank(*p)) ++p;
  return {begin, static_cast<std::size_t>(p - begin)};
}

template <class T, class From>
array<T> narrowed(const std::vector<From>& from) {
  array<T> out(from.size());
  std::transform(from.begin(), from.end(), out.begin(),
                 [](From value) { return static_cast<T>(value); });
  return out;
}

template <class T>
bool fits(double smallest, double largest) {
  return smallest >= static_cast<double>(std::numeric_limits<T>::min()) &&
         largest <= static_cast<double>(std::numeric_limits<T>::max());
}

// What some lines hold.
struct mtx_lines {
  entry_piece entries;
  index_t lines = 0;
  std::optional<index_t> first_nan = {};  // its line, from 0 on
  struct fault {
    input_position where;  // the line counts from 0
    std::string what;
  };
  std::optional<fault> error = {};  // behind it nothing was read
};

// Reads whole lines. One reader a thread.
class mtx_line_reader {
 public:
  mtx_line_reader(const mtx_header& header, bool transposes)
      : header_(header), transposes_(transposes) {}

  mtx_lines read(std::string_view text) {
    out_ = {};
    rows_.clear();
    cols_.clear();
    values_.clear();
    is_whole_ = true;
    smallest_ = 0;
    largest_ = 0;
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p != end) {
      skip_blanks(p, end);
      const bool is_entry = p != end && *p != '\n' && *p != '%';
      if (is_entry && !read_line(p, end)) break;
      if (!is_entry && p != end && *p == '%') p = std::find(p, end, '\n');
      if (p != end) ++p;
      ++out_.lines;
    }
    if (!out_.error) keep();
    return std::move(out_);
  }

 private:
  bool fail(index_t field, std::string what) {
    out_.error = {{out_.lines, field}, std::move(what)};
    return false;
  }

  // A row or a column, from 1 in the file and from 0 here.
  bool read_place(const char*& p, const char* end, index_t most, index_t field, std::int32_t& out) {
    skip_blanks(p, end);
    const char* const begin = p;
    index_t value = 0;
    constexpr std::ptrdiff_t most_digits = 18;  // cannot overflow 64 bits
    while (p != end && is_digit(*p) && p - begin < most_digits) value = value * 10 + (*p++ - '0');
    const bool ends = p == end || *p == '\n' || is_blank(*p);
    if (p != begin && ends && value >= 1 && value <= most) {
      out = static_cast<std::int32_t>(value - 1);
      return true;
    }
    const char* const what = field == 1 ? "row" : "column";
    const std::string_view word = word_at(begin, end);
    if (word.empty()) {
      return fail(field, fmt::format("got the end of the line, expected the {} of an entry", what));
    }
    return fail(field, fmt::format("got {} {}, expected 1 to {}", what, quoted(word), most));
  }

  bool read_value(const char*& p, const char* end) {
    skip_blanks(p, end);
    const std::string_view word = word_at(p, end);
    p += word.size();
    const number read = parse_number(word);
    constexpr index_t field = 3;
    if (read.kind == number_kind::not_a_number) {
      return fail(field, word.empty() ? "got the end of the line, expected a value"
                                      : fmt::format("got {}, expected a number", quoted(word)));
    }
    if (read.kind == number_kind::overflow) {
      return fail(field, fmt::format("got {}, expected {}", quoted(word), numbers_in_range));
    }
    if (read.kind == number_kind::integer) {
      const auto value = static_cast<double>(read.integer);
      smallest_ = std::min(smallest_, value);
      largest_ = std::max(largest_, value);
      values_.push_back(value);
      return true;
    }
    const bool is_written_whole = word.find_first_not_of("+-0123456789") == std::string_view::npos;
    if (header_.field == mtx_field::integer && !is_written_whole) {
      return fail(field, fmt::format("got {}, expected an integer, as line 1 says", quoted(word)));
    }
    is_whole_ = false;
    if (read.real != read.real && !out_.first_nan) out_.first_nan = out_.lines;
    values_.push_back(read.real);
    return true;
  }

  // Reads one entry; false where there is something wrong.
  bool read_line(const char*& p, const char* end) {
    std::int32_t row = 0;
    std::int32_t col = 0;
    if (!read_place(p, end, header_.rows, 1, row)) return false;
    if (!read_place(p, end, header_.cols, 2, col)) return false;
    if (header_.field != mtx_field::pattern && !read_value(p, end)) return false;
    skip_blanks(p, end);
    if (p != end && *p != '\n') {
      const index_t field = header_.field == mtx_field::pattern ? 3 : 4;
      return fail(field,
                  fmt::format("got {}, expected the end of the line", quoted(word_at(p, end))));
    }
    rows_.push_back(transposes_ ? col : row);
    cols_.push_back(transposes_ ? row : col);
    return true;
  }

  // What was read, as narrow as it may be.
  void keep() {
    entry_piece& piece = out_.entries;
    piece.row = narrowed<std::int32_t>(rows_);
    piece.col = narrowed<std::int32_t>(cols_);
    if (header_.field == mtx_field::pattern) {
      values_.assign(rows_.size(), 1);
      largest_ = 1;
    }
    const bool is_whole = is_whole_ && fits<std::int32_t>(smallest_, largest_);
    if (!is_whole) {
      piece.values = narrowed<double>(values_);
      return;
    }
    piece.smallest = static_cast<std::int32_t>(smallest_);
    piece.largest = static_cast<std::int32_t>(largest_);
    if (fits<std::int8_t>(smallest_, largest_)) {
      piece.values = narrowed<std::int8_t>(values_);
    } else if (fits<std::int16_t>(smallest_, largest_)) {
      piece.values = narrowed<std::int16_t>(values_);
    } else {
      piece.values = narrowed<std::int32_t>(values_);
    }
  }

  mtx_header header_;
  bool transposes_;
  mtx_lines out_;
  // Of the lines that are being read.
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> cols_;
  std::vector<double> values_;
  bool is_whole_ = true;
  double smallest_ = 0;
  double largest_ = 0;
};

// The values of a segment stay in the second-level cache while it is read.
constexpr std::size_t segment_bytes = std::size_t{256} << 10;

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
    return {
        .matrix = assemble(std::move(pieces_), rows, cols, header_.is_symmetric, options_.threads),
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
