#pragma once
// The rows of a table, handed out in blocks: a file larger than memory passes through.

#include <optional>
#include <utility>

#include <gpu/index.hpp>

#include "io/table.hpp"

namespace gpu::io {

/// What the first bytes tell of a table.
struct row_facts {
  index_t cols = 0;
  std::optional<index_t> rows = {};  ///< In all, where the format says so in front of them.
  bool names_rows = false;           ///< Whether the rows have names.
  bool is_float = false;             ///< Whether the elements are float, not double or integers.
  column_names columns = {};
  table_reading reading = {};  ///< How the file is read.
};

/// A table whose rows come in order.
/// Memory: a few blocks of some megabytes, or of one row where that is longer.
class row_reader {
 public:
  explicit row_reader(row_facts facts = {}) : facts_(std::move(facts)) {}
  virtual ~row_reader() = default;
  [[nodiscard]] index_t cols() const { return facts_.cols; }
  [[nodiscard]] std::optional<index_t> rows() const { return facts_.rows; }
  [[nodiscard]] bool names_rows() const { return facts_.names_rows; }
  [[nodiscard]] bool is_float() const { return facts_.is_float; }
  [[nodiscard]] const column_names& columns() const { return facts_.columns; }
  [[nodiscard]] const table_reading& reading() const { return facts_.reading; }
  [[nodiscard]] const row_facts& facts() const { return facts_; }
  /// The next rows, at least one, or nothing at the end. Blocks of text take the narrowest type
  /// that holds their own values.
  /// @throw input_error, interrupted, as read_table.
  virtual std::optional<table> next() = 0;
  /// All rows that next() has not given, as one table.
  virtual table rest() = 0;
  /// Whether the rows are the elements of one vector: one number a line, without names.
  [[nodiscard]] bool is_vector() const { return cols() == 1 && !names_rows(); }

 protected:
  row_facts facts_;
};

}  // namespace gpu::io
