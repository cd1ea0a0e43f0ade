#include "io/read/npy_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/read/transposed_rows.hpp"

namespace gpu::io {
namespace {

void read_exactly(byte_stream& bytes, std::span<char> out, const std::string& file,
                  std::string_view what) {
  const std::size_t got = bytes.read(out);
  if (got < out.size()) {
    throw input_error(file, {},
                      fmt::format("the .npy file is truncated: got {} of the {} bytes of its {}",
                                  got, out.size(), what));
  }
}

}  // namespace

npy_header read_npy_header(byte_stream& bytes, const std::string& file) {
  std::array<unsigned char, 8> start{};  // magic and version
  read_exactly(bytes, {reinterpret_cast<char*>(start.data()), start.size()}, file, "preamble");
  const unsigned major = start[6];
  if (major < 1 || major > 3) {
    throw input_error(file, {}, fmt::format("got .npy version {}, expected 1 to 3", major));
  }
  std::array<unsigned char, 4> length_bytes{};
  const std::size_t length_size = major == 1 ? 2 : 4;
  read_exactly(bytes, {reinterpret_cast<char*>(length_bytes.data()), length_size}, file,
               "preamble");
  const std::size_t length = length_bytes[0] | std::size_t{length_bytes[1]} << 8 |
                             std::size_t{length_bytes[2]} << 16 |
                             std::size_t{length_bytes[3]} << 24;
  constexpr std::size_t longest_header = std::size_t{1} << 20;
  if (length > longest_header) {
    throw input_error(
        file, {},
        fmt::format("got a .npy header of {} bytes, expected at most {}", length, longest_header));
  }
  std::string text(length, ' ');
  read_exactly(bytes, text, file, "header");
  const auto header = parse_npy_header(text);
  if (!header) {
    throw input_error(file, {},
                      fmt::format("got the .npy header {}, expected a dictionary with "
                                  "descr, fortran_order and shape",
                                  quoted(text)));
  }
  return *header;
}

namespace {

void check_layout(const npy_header& header, const std::string& file) {
  if (header.shape.size() != 2) {
    throw input_error(file, {},
                      fmt::format("got a .npy array of shape ({}), expected two dimensions: rows "
                                  "are variables, columns are observations",
                                  fmt::join(header.shape, ", ")));
  }
  if (header.descr.starts_with('>')) {
    throw input_error(file, {},
                      fmt::format("got a big-endian .npy array ({}), expected little endian: save "
                                  "a.astype(a.dtype.newbyteorder('<'))",
                                  quoted(header.descr)));
  }
}

/// Before memory is taken: a header may promise anything.
void check_size(const byte_stream& bytes, index_t rows, index_t cols, std::size_t element_bytes,
                const std::string& file) {
  const std::uint64_t left = bytes.most_bytes();
  const std::uint64_t most_values = left / element_bytes;
  // Rows that take no bytes are held to nothing: each would still be a line of the result. So would
  // columns, where they become rows.
  constexpr index_t most_empty_rows = std::numeric_limits<std::int32_t>::max();
  if (std::min(rows, cols) == 0 && std::max(rows, cols) > most_empty_rows) {
    throw input_error(file, {},
                      fmt::format("got a .npy array of shape ({}, {}), expected at most {} rows "
                                  "where there are no columns",
                                  rows, cols, most_empty_rows));
  }
  if (cols != 0 &&
      static_cast<std::uint64_t>(rows) > most_values / static_cast<std::uint64_t>(cols)) {
    throw input_error(file, {},
                      fmt::format("the .npy file is truncated: its shape ({}, {}) takes more than "
                                  "the {} bytes that can follow",
                                  rows, cols, left));
  }
}

/// Where the elements of the array stand in the file, and how messages name them.
struct npy_layout {
  index_t cols;  ///< Elements that follow each other: a row in C order, a column in Fortran order.
  bool by_columns;

  [[nodiscard]] input_position position(index_t number) const {
    const index_t line = number / cols;
    const index_t within = number % cols;
    return by_columns ? input_position{within, line, true} : input_position{line, within, true};
  }
};

/// Counts the NaN of `values`, which begin at number `first` of the array.
template <class T>
void note_nans(std::span<const T> values, index_t first, const npy_layout& layout, table& out) {
  if constexpr (std::is_floating_point_v<T>) {
    // Without an exit the loop runs in vectors.
    index_t count = 0;
    for (const T value : values) count += value != value ? 1 : 0;
    out.missing += count;
    if (count == 0 || out.first_nan) return;
    const auto found = std::find_if(values.begin(), values.end(), [](T v) { return v != v; });
    out.first_nan = layout.position(first + (found - values.begin()));
  }
}

/// That the octets of bools are 0 or 1, as everything writes them: another value is damage, and
/// programs read it differently.
void check_bools(std::span<const std::uint8_t> values, index_t first, const npy_layout& layout,
                 const std::string& file) {
  const auto wrong =
      std::find_if(values.begin(), values.end(), [](std::uint8_t value) { return value > 1; });
  if (wrong == values.end()) return;
  throw input_error(file, layout.position(first + (wrong - values.begin())),
                    fmt::format("got the byte {} in an array of bool, expected 0 or 1", *wrong));
}

constexpr index_t piece_values = index_t{1} << 20;

/// Reads the values from number `done` of `count` on.
template <class T>
void read_piece(byte_stream& bytes, std::span<T> piece, index_t done, index_t count,
                const std::string& file) {
  const std::size_t got = bytes.read({reinterpret_cast<char*>(piece.data()), piece.size_bytes()});
  if (got < piece.size_bytes()) {
    throw input_error(file, {},
                      fmt::format("the .npy file is truncated: got {} of the {} bytes of its data",
                                  static_cast<std::size_t>(done) * sizeof(T) + got,
                                  static_cast<std::size_t>(count) * sizeof(T)));
  }
}

/// Reads `count` values from number `first` on; `total` there are.
template <class T>
void read_values(byte_stream& bytes, std::span<T> out, index_t first, index_t total,
                 const npy_layout& layout, const std::string& file, table& table_read) {
  const auto count = static_cast<index_t>(out.size());
  for (index_t done = 0; done < count; done += piece_values) {
    const std::span<T> piece =
        out.subspan(static_cast<std::size_t>(done),
                    static_cast<std::size_t>(std::min(piece_values, count - done)));
    read_piece(bytes, piece, first + done, total, file);
    note_nans<T>(piece, first + done, layout, table_read);
  }
}

/// The same of wide integers, which are taken where every value fits int32.
template <class T>
void read_narrowed(byte_stream& bytes, std::span<std::int32_t> out, index_t first, index_t total,
                   const npy_layout& layout, const std::string& file) {
  const auto count = static_cast<index_t>(out.size());
  std::vector<T> piece;
  for (index_t done = 0; done < count;) {
    piece.resize(static_cast<std::size_t>(std::min(piece_values, count - done)));
    read_piece(bytes, std::span<T>(piece), first + done, total, file);
    for (const T value : piece) {
      if (!std::in_range<std::int32_t>(value)) {
        throw input_error(
            file, layout.position(first + done),
            fmt::format(
                "got {}, expected integers that fit 32 bits; save float64 if you want to round",
                value));
      }
      out[static_cast<std::size_t>(done++)] = static_cast<std::int32_t>(value);
    }
  }
}

/// Nothing may follow; of compressed data this reads the checksum behind it.
void check_end(byte_stream& bytes, const std::string& file) {
  char extra = 0;
  if (bytes.read({&extra, 1}) != 0) {
    throw input_error(file, {}, "got more bytes after the data than the shape of the .npy says");
  }
}

/// Calls `use` with a value of the type that the file stores.
template <class Use>
void with_stored_type(const npy_header& header, const std::string& file, const Use& use) {
  if (with_npy_type(header.descr, use)) return;
  throw input_error(
      file, {},
      fmt::format("got a .npy array of type {}, expected {}",
                  header.descr.empty() ? "'structured'" : quoted(header.descr), npy_types));
}

}  // namespace

npy_rows::npy_rows(std::unique_ptr<byte_stream> bytes, const std::string& file)
    : bytes_(std::move(bytes)), file_(file), header_(read_npy_header(*bytes_, file)) {
  check_layout(header_, file);
  with_stored_type(header_, file, [&]<class T>(T) { element_bytes_ = sizeof(T); });
  check_size(*bytes_, header_.shape[0], header_.shape[1], element_bytes_, file);
  // The bytes of an array in Fortran order are those of its transpose in C order.
  if (header_.fortran_order) std::swap(header_.shape[0], header_.shape[1]);
  facts_.rows = header_.shape[0];
  facts_.cols = header_.shape[1];
  facts_.is_float = header_.descr.ends_with("f4");
}

std::optional<table> npy_rows::next() {
  constexpr std::size_t piece_bytes = std::size_t{16} << 20;
  const index_t left = header_.shape[0] - done_rows_;
  if (left == 0) {
    if (!std::exchange(is_end_checked_, true)) check_end(*bytes_, file_);
    return std::nullopt;
  }
  const auto row_bytes = static_cast<std::size_t>(cols()) * element_bytes_;
  const auto fitting = static_cast<index_t>(piece_bytes / std::max<std::size_t>(row_bytes, 1));
  return read_rows(std::clamp<index_t>(fitting, 1, left));
}

table npy_rows::rest() {
  table out = read_rows(header_.shape[0] - done_rows_);
  check_end(*bytes_, file_);
  is_end_checked_ = true;
  return out;
}

table npy_rows::read_rows(index_t rows) {
  table out;
  const index_t cols = header_.shape[1];
  const index_t first = done_rows_ * cols;
  const index_t total = header_.shape[0] * cols;
  const npy_layout layout{cols, header_.fortran_order};
  with_stored_type(header_, file_, [&]<class T>(T) {
    using element = std::conditional_t<(std::is_integral_v<T> && sizeof(T) > 4) ||
                                           std::is_same_v<T, std::uint32_t>,
                                       std::int32_t, T>;
    matrix<element> values(rows, cols);
    const std::span<element> all(values.data(), static_cast<std::size_t>(rows * cols));
    if constexpr (std::is_same_v<element, T>) {
      read_values<T>(*bytes_, all, first, total, layout, file_, out);
      if constexpr (std::is_same_v<T, std::uint8_t>) {
        if (header_.descr.ends_with("b1")) check_bools(all, first, layout, file_);
      }
    } else {
      read_narrowed<T>(*bytes_, all, first, total, layout, file_);
    }
    out.values = std::move(values);
  });
  done_rows_ += rows;
  return out;
}

std::unique_ptr<row_reader> open_npy(std::unique_ptr<byte_stream> bytes, const std::string& file,
                                     bool transposes, int threads) {
  auto rows = std::make_unique<npy_rows>(std::move(bytes), file);
  if (rows->holds_transpose() == transposes) return rows;
  return std::make_unique<transposed_rows>(std::move(rows), threads);
}

}  // namespace gpu::io
