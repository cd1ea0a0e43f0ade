#pragma once
// The columns of a table as rows.

#include <memory>
#include <optional>

#include "io/read/row_reader.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// The columns of `in` as rows, with their names, and the rows as columns. Memory: both at once.
[[nodiscard]] table transposed(const table& in, int threads);

/// Reads all of a source, because its first column ends with its last row, and hands it out as one
/// block. Memory: the table twice.
class transposed_rows final : public row_reader {
 public:
  transposed_rows(std::unique_ptr<row_reader> source, int threads);
  [[nodiscard]] index_t cols() const override { return cols_; }
  [[nodiscard]] std::optional<index_t> rows() const override { return rows_; }
  [[nodiscard]] bool names_rows() const override { return !reading_.rows_named_by.empty(); }
  [[nodiscard]] bool is_float() const override { return is_float_; }
  [[nodiscard]] const column_names& columns() const override { return columns_; }
  [[nodiscard]] const table_reading& reading() const override { return reading_; }
  std::optional<table> next() override;
  table rest() override;

 private:
  bool is_float_;
  std::optional<table> table_;  // until it is handed out
  index_t rows_;
  index_t cols_;
  column_names columns_;
  table_reading reading_;
};

}  // namespace gpu::io
