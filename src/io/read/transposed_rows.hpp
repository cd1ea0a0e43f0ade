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
  std::optional<table> next() override;
  table rest() override;

 private:
  std::optional<table> table_;  // until it is handed out
};

}  // namespace gpu::io
