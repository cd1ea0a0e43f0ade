#pragma once
// MatrixMarket's coordinate files (.mtx), read by all cores.

#include <memory>
#include <string>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"
#include "io/read/sparse/sparse_rows.hpp"

namespace gpu::io {

/// Whether a file begins like one: %%MatrixMarket, which some programs write in small letters.
[[nodiscard]] inline bool is_matrix_market(const input& file) {
  return file.begins_with("%%Matrix") || file.begins_with("%%matrix");
}

/// Reads a whole file: coordinate; integer, real or pattern (each value is 1); general or
/// symmetric. Integers and numbers without a point give the narrowest type that holds them
/// and 0, else double. What is not stored is 0. Lines that begin with % are left out. Names are
/// those of names_beside.hpp. Memory: the entries in the order of the file (two indices and the
/// value, as narrow as the lines around allow) and the matrix.
/// @throw input_error with file, line and column where it is not such a file, and where a place
///   stands twice
[[nodiscard]] std::unique_ptr<row_reader> open_matrix_market(input& file,
                                                             const read_options& options);

/// The same of the text that `source` delivers; `file` is named in errors.
[[nodiscard]] sparse_file read_matrix_market(std::unique_ptr<line_source> source,
                                             const read_options& options, const std::string& file);

}  // namespace gpu::io
