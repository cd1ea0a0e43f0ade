#include "io/read/sparse/mtx_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/text/number.hpp"

namespace gpu::io {
namespace {

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

}  // namespace

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
    out.mirror = mirrored::nothing;
  } else if (symmetry == "symmetric") {
    out.mirror = mirrored::value;
  } else if (symmetry == "skew-symmetric" && out.field != mtx_field::pattern) {
    out.mirror = mirrored::negative;
  } else {
    refuse_word(file, 5, symmetry, "general, symmetric or skew-symmetric");
  }
  const std::string_view more = next_word(line);
  if (!more.empty()) refuse_word(file, 6, more, "the end of the line");
}

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
  if (out.mirror != mirrored::nothing && out.rows != out.cols) {
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

namespace {

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

}  // namespace

bool mtx_line_reader::fail(index_t field, std::string what) {
  out_.error = {{out_.lines, field}, std::move(what)};
  return false;
}

// A row or a column, from 1 in the file and from 0 here.
bool mtx_line_reader::read_place(const char*& p, const char* end, index_t most, index_t field,
                                 std::int32_t& out) {
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

bool mtx_line_reader::read_value(const char*& p, const char* end) {
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
bool mtx_line_reader::read_line(const char*& p, const char* end) {
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
  if (header_.mirror == mirrored::negative && row == col) {
    return fail(1, "got a value on the diagonal, expected none of a skew-symmetric matrix");
  }
  rows_.push_back(transposes_ ? col : row);
  cols_.push_back(transposes_ ? row : col);
  return true;
}

// What was read, as narrow as it may be.
void mtx_line_reader::keep() {
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

mtx_lines mtx_line_reader::read(std::string_view text) {
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

}  // namespace gpu::io
