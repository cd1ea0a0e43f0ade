#pragma once
// A table that is written as Parquet, where the build has Apache Arrow's library.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/write/output_file.hpp"

namespace gpu::io {

enum class parquet_type { text, number, count };  // string, double, uint32

/// A column of a table that is to be written.
struct parquet_field {
  std::string name;
  parquet_type type = parquet_type::number;
};

/// The values of a column, as its type says.
using parquet_values = std::variant<std::span<const std::string_view>, std::span<const double>,
                                    std::span<const std::uint32_t>>;

/// Writes row group by row group. No value is null; the index of the file comes last, so that a
/// pipe may be written to. One thread at a time.
class parquet_table {
 public:
  /// `out` outlives the table. Nothing is written yet.
  /// @throw output_error where the build has no Parquet
  parquet_table(output_file& out, std::vector<parquet_field> fields);
  /// Without finish() the output stays without its index, and no reader takes it for whole.
  ~parquet_table();
  parquet_table(const parquet_table&) = delete;
  parquet_table& operator=(const parquet_table&) = delete;

  /// The next row group: values of every column, each of them `rows`.
  /// @throw what output_file::write throws
  void write(std::size_t rows, std::span<const parquet_values> columns);
  /// Writes the index of the file, which the caller then commits.
  /// @throw as write
  void finish();

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace gpu::io
