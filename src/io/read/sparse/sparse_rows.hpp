#pragma once
// The rows of a sparse matrix that was read.

#include <optional>
#include <string>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"
#include "io/sparse_matrix.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// What a sparse file holds: its columns as rows already, where that was asked for.
struct sparse_file {
  sparse_matrix matrix;
  row_names names = {};
  column_names columns = {};
  table_reading reading = {};
  /// Where the first NaN of the file stands.
  std::optional<input_position> first_nan = {};
};

/// Hands out blocks of rows that are written out, or all rows as they are.
class sparse_rows final : public row_reader {
 public:
  /// @throw input_error for a place that is stored twice, which is named as the file `file` has it
  sparse_rows(sparse_file what, const read_options& options, const std::string& file,
              std::uint64_t max_bytes);
  std::optional<table> next() override;
  table rest() override;

 private:
  table describe(index_t begin, index_t end);
  table write_out(index_t begin, index_t end);

  sparse_file what_;
  std::string file_;
  std::uint64_t max_bytes_;
  int threads_;
  bool keeps_sparse_;
  index_t missing_ = 0;
  index_t done_ = 0;
};

}  // namespace gpu::io
