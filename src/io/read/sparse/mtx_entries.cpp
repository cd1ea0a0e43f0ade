#include "io/read/sparse/mtx_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "io/text/number.hpp"

namespace gpu::io {
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

template <class Place>
bool mtx_line_reader<Place>::fail(index_t field, std::string what) {
  out_.error = {{out_.lines, field}, std::move(what)};
  return false;
}

// A row or a column, from 1 in the file and from 0 here.
template <class Place>
bool mtx_line_reader<Place>::read_place(const char*& p, const char* end, index_t most,
                                        index_t field, Place& out) {
  skip_blanks(p, end);
  const char* const begin = p;
  index_t value = 0;
  constexpr std::ptrdiff_t most_digits = 18;  // cannot overflow 64 bits
  while (p != end && is_digit(*p) && p - begin < most_digits) value = value * 10 + (*p++ - '0');
  const bool ends = p == end || *p == '\n' || is_blank(*p);
  if (p != begin && ends && value >= 1 && value <= most) {
    out = static_cast<Place>(value - 1);
    return true;
  }
  const char* const what = field == 1 ? "row" : "column";
  const std::string_view word = word_at(begin, end);
  if (word.empty()) {
    return fail(field, fmt::format("got the end of the line, expected the {} of an entry", what));
  }
  return fail(field, fmt::format("got {} {}, expected 1 to {}", what, quoted(word), most));
}

template <class Place>
bool mtx_line_reader<Place>::read_value(const char*& p, const char* end) {
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
template <class Place>
bool mtx_line_reader<Place>::read_line(const char*& p, const char* end) {
  Place row = 0;
  Place col = 0;
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
template <class Place>
void mtx_line_reader<Place>::keep() {
  entry_piece<Place>& piece = out_.entries;
  piece.row = narrowed<Place>(rows_);
  piece.col = narrowed<Place>(cols_);
  if (header_.field == mtx_field::pattern) {
    values_.assign(rows_.size(), 1);
    largest_ = 1;
  }
  const bool is_whole = is_whole_ && fits<std::int32_t>(smallest_, largest_);
  if (!is_whole) {
    piece.has_reals = true;
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

template <class Place>
mtx_lines<Place> mtx_line_reader<Place>::read(std::string_view text) {
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

template class mtx_line_reader<std::int32_t>;
template class mtx_line_reader<std::int64_t>;

}  // namespace gpu::io
