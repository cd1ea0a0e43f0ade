#pragma once
// The rows of a table, handed out in blocks: a file larger than memory passes through.

#include <optional>

#include <gpu/index.hpp>

#include "io/table.hpp"

namespace gpu::io {

/// A table whose shape is known as far as the first bytes tell it, and whose rows come in order.
/// Memory: a few blocks of some megabytes, or of one row where that is longer.
class row_reader {
 public:
  virtual ~row_reader() = default;
  [[nodiscard]] virtual index_t cols() const = 0;
  /// How many rows there are in all, where the format says so in front of them.
  [[nodiscard]] virtual std::optional<index_t> rows() const = 0;
  /// Whether the rows have names.
  [[nodiscard]] virtual bool names_rows() const = 0;
  /// Whether the elements are float, not double or integers.
  [[nodiscard]] virtual bool is_float() const = 0;
  [[nodiscard]] virtual const column_names& columns() const = 0;
  /// How the file is read.
  [[nodiscard]] virtual const table_reading& reading() const = 0;
  /// The next rows, at least one, or nothing at the end. Blocks of text take the narrowest type
  /// that holds their own values.
  /// @throw input_error, interrupted, as read_table.
  virtual std::optional<table> next() = 0;
  /// All rows that next() has not given, as one table.
  virtual table rest() = 0;
  /// Whether the rows are the elements of one vector: one number a line, without names.
  [[nodiscard]] bool is_vector() const { return cols() == 1 && !names_rows(); }
};

}  // namespace gpu::io
