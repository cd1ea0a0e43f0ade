#include "io/read/npy_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/npy_header.hpp"

namespace gpu::io {
namespace {

constexpr std::string_view known_types =
    "int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32 or float64";

void read_exactly(byte_stream& bytes, std::span<char> out, const std::string& file,
                  std::string_view what) {
  const std::size_t got = bytes.read(out);
  if (got < out.size()) {
    throw input_error(file, {},
                      fmt::format("the .npy file is truncated: got {} of the {} bytes of its {}",
                                  got, out.size(), what));
  }
}

npy_header read_header(byte_stream& bytes, const std::string& file) {
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

void check_layout(const npy_header& header, const std::string& file) {
  if (header.shape.size() != 2) {
    throw input_error(file, {},
                      fmt::format("got a .npy array of shape ({}), expected two dimensions: rows "
                                  "are variables, columns are observations",
                                  fmt::join(header.shape, ", ")));
  }
  if (header.fortran_order) {
    throw input_error(file, {},
                      "got a .npy array in Fortran order, expected C order: save "
                      "numpy.ascontiguousarray(a)");
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
  if (cols != 0 &&
      static_cast<std::uint64_t>(rows) > most_values / static_cast<std::uint64_t>(cols)) {
    throw input_error(file, {},
                      fmt::format("the .npy file is truncated: its shape ({}, {}) takes more than "
                                  "the {} bytes that can follow",
                                  rows, cols, left));
  }
}

template <class T>
std::optional<input_position> find_nan(std::span<const T> values, index_t first, index_t cols) {
  if constexpr (std::is_floating_point_v<T>) {
    // Without an exit the loop runs in vectors.
    bool has_nan = false;
    for (const T value : values) has_nan |= value != value;
    if (!has_nan) return std::nullopt;
    const auto found = std::find_if(values.begin(), values.end(), [](T v) { return v != v; });
    const index_t at = first + (found - values.begin());
    return input_position{at / cols, at % cols, true};
  }
  return std::nullopt;
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

template <class T>
void read_values(byte_stream& bytes, index_t rows, index_t cols, const std::string& file,
                 table& out) {
  check_size(bytes, rows, cols, sizeof(T), file);
  matrix<T> values(rows, cols);
  for (index_t done = 0; done < rows * cols; done += piece_values) {
    const std::span<T> piece(values.data() + done,
                             static_cast<std::size_t>(std::min(piece_values, rows * cols - done)));
    read_piece(bytes, piece, done, rows * cols, file);
    if (!out.first_nan) out.first_nan = find_nan<T>(piece, done, cols);
  }
  out.values = std::move(values);
}

/// Wide integers, which are taken where every value fits int32.
template <class T>
void read_narrowed(byte_stream& bytes, index_t rows, index_t cols, const std::string& file,
                   table& out) {
  check_size(bytes, rows, cols, sizeof(T), file);
  matrix<std::int32_t> values(rows, cols);
  std::vector<T> piece;
  for (index_t done = 0; done < rows * cols;) {
    const index_t count = std::min(piece_values, rows * cols - done);
    piece.resize(static_cast<std::size_t>(count));
    read_piece(bytes, std::span<T>(piece), done, rows * cols, file);
    for (const T value : piece) {
      if (!std::in_range<std::int32_t>(value)) {
        throw input_error(file, {done / cols, done % cols, true},
                          fmt::format("got {}, expected integers that fit 32 bits; save float64 "
                                      "where rounding is meant",
                                      value));
      }
      values.data()[done++] = static_cast<std::int32_t>(value);
    }
  }
  out.values = std::move(values);
}

/// Nothing may follow; of compressed data this reads the checksum behind it.
void check_end(byte_stream& bytes, const std::string& file) {
  char extra = 0;
  if (bytes.read({&extra, 1}) != 0) {
    throw input_error(file, {}, "got more bytes behind the data than the shape of the .npy says");
  }
}

}  // namespace

table read_npy(byte_stream& bytes, const std::string& file) {
  const npy_header header = read_header(bytes, file);
  check_layout(header, file);
  const index_t rows = header.shape[0];
  const index_t cols = header.shape[1];
  const bool has_order = header.descr.find_first_of("<|=") == 0;
  const std::string type = has_order ? header.descr.substr(1) : "";
  table out;
  const auto read = [&](auto reader) { reader(bytes, rows, cols, file, out); };
  if (type == "i1") {
    read(read_values<std::int8_t>);
  } else if (type == "i2") {
    read(read_values<std::int16_t>);
  } else if (type == "i4") {
    read(read_values<std::int32_t>);
  } else if (type == "u1") {
    read(read_values<std::uint8_t>);
  } else if (type == "u2") {
    read(read_values<std::uint16_t>);
  } else if (type == "f4") {
    read(read_values<float>);
  } else if (type == "f8") {
    read(read_values<double>);
  } else if (type == "i8") {
    read(read_narrowed<std::int64_t>);
  } else if (type == "u4") {
    read(read_narrowed<std::uint32_t>);
  } else if (type == "u8") {
    read(read_narrowed<std::uint64_t>);
  } else {
    throw input_error(
        file, {},
        fmt::format("got a .npy array of type {}, expected {}",
                    header.descr.empty() ? "'structured'" : quoted(header.descr), known_types));
  }
  check_end(bytes, file);
  return out;
}

}  // namespace gpu::io
