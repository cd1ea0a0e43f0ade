#include "io/read/sparse/mtx_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "io/io_error.hpp"

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

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

[[noreturn]] void refuse_word(const std::string& file, index_t column, std::string_view got,
                              std::string_view expected) {
  throw input_error(file, {1, column}, fmt::format("got {}, expected {}", quoted(got), expected));
}

}  // namespace

void take_banner(std::string_view line, const std::string& file, mtx_header& out) {
  const std::string_view magic = next_word(line);
  if (lower(magic) != "%%matrixmarket") refuse_word(file, 1, magic, "%%MatrixMarket");
  const std::string object = lower(next_word(line));
  if (object != "matrix") refuse_word(file, 2, object, "matrix");
  const std::string format = lower(next_word(line));
  if (format != "coordinate") {
    refuse_word(file, 3, format, "coordinate: dense arrays are read as text or .npy");
  }
  const std::string field = lower(next_word(line));
  if (field == "integer" || field == "unsigned-integer") {
    out.field = mtx_field::integer;
  } else if (field == "real" || field == "double") {
    out.field = mtx_field::real;
  } else if (field == "pattern") {
    out.field = mtx_field::pattern;
  } else {
    refuse_word(file, 4, field, "integer, real or pattern");
  }
  const std::string symmetry = lower(next_word(line));
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
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), *sizes[k]);
    if (code != std::errc() || end != word.data() + word.size() || *sizes[k] < 0) {
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
  check_extents(out.rows, out.cols, out.entries, number, file);
}

void check_extents(index_t rows, index_t cols, index_t entries, index_t line,
                   const std::string& file) {
  constexpr index_t always = index_t{1} << 24;
  constexpr index_t most_per_entry = 100;
  const index_t longest = std::max(rows, cols);
  if (longest <= always || longest / most_per_entry <= entries) return;
  throw input_error(
      file, {line, 0},
      fmt::format("got {} rows and {} columns for {} entries, expected at most {} of either, or {} "
                  "for each entry",
                  rows, cols, entries, always, most_per_entry));
}

}  // namespace gpu::io
