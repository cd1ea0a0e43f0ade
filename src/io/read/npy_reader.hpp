#pragma once
// NumPy's .npy, versions 1 to 3: two dimensions, C or Fortran order, little endian.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/npy_header.hpp"
#include "io/read/input.hpp"
#include "io/read/row_reader.hpp"
#include "io/table.hpp"

namespace gpu::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Preamble and header of the .npy that `bytes` delivers.
/// @throw input_error
[[nodiscard]] npy_header read_npy_header(byte_stream& bytes, const std::string& file);

/// The rows of a .npy, some megabytes at a time; of an array in Fortran order its columns.
class npy_rows final : public row_reader {
 public:
  /// Reads the header. `file` is named in errors.
  npy_rows(std::unique_ptr<byte_stream> bytes, const std::string& file);
  /// Whether these rows are the columns of the array.
  [[nodiscard]] bool holds_transpose() const { return header_.fortran_order; }
  std::optional<table> next() override;
  table rest() override;

 private:
  table read_rows(index_t rows);

  std::unique_ptr<byte_stream> bytes_;
  std::string file_;
  npy_header header_;
  std::size_t element_bytes_ = 0;
  index_t done_rows_ = 0;
  bool is_end_checked_ = false;
};

/// The rows of the array that `bytes` delivers, or its columns where `transposes`; `file` is named
/// in errors. What does not lie so in the file is turned in memory (transposed_rows).
/// @throw input_error
[[nodiscard]] std::unique_ptr<row_reader> open_npy(std::unique_ptr<byte_stream> bytes,
                                                   const std::string& file, bool transposes,
                                                   int threads);

}  // namespace gpu::io
