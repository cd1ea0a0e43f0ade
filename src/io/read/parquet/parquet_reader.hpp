#pragma once
// Tables of Parquet files, where the build has Apache Arrow's library.

#include <memory>
#include <string_view>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"

namespace gpu::io {

/// No letter or separator of text stands behind the four letters: a table may begin with a gene
/// PAR1.
inline constexpr std::string_view parquet_magic = "PAR1\x15";

/// The rows of a Parquet file, some megabytes at a time: what is in memory of it is a page of each
/// column, or a row group of less than 256 MB, compressed; of a pipe and of a compressed file all.
/// bool and integers give the narrowest type that holds them, as text does, else double; float and
/// double stay what they are, beside each other they are double. Nulls are NaN. `file` outlives
/// the source.
/// @throw input_error where the file is damaged, where its values would take more than
///   file.max_bytes(), where choose_parquet_columns() refuses a column, where an integer has no
///   equal double, and where the build has no Parquet
[[nodiscard]] std::unique_ptr<row_reader> open_parquet(input& file, const read_options& options);

}  // namespace gpu::io
