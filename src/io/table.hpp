#pragma once
// What reading a file gives: a matrix of the narrowest element type that holds every value, and
// the names of its rows and columns.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/bit_matrix.hpp>
#include <gpu/matrix.hpp>

#include "io/io_error.hpp"
#include "io/sparse_matrix.hpp"

namespace gpu::io {

/// Names of rows, all in one buffer. Rows without names are called X1, X2, ...; those of a second
/// table Y1, Y2, ...
class row_names {
 public:
  /// Whether the file names its rows.
  [[nodiscard]] bool given() const noexcept { return !ends_.empty(); }
  /// Rows named so far.
  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(ends_.size()); }
  /// The name that the file gives to row i; only where `given()`.
  [[nodiscard]] std::string_view operator[](index_t i) const noexcept;
  /// The name of row i, given or made of `letter` and its number from 1.
  [[nodiscard]] std::string name(index_t i, char letter = 'X') const;
  /// Length of the longest name of `rows` rows.
  [[nodiscard]] std::size_t longest(index_t rows) const noexcept;
  void add(std::string_view name);
  void add(const row_names& others);

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

/// Names of columns, as a header line gives them.
struct column_names {
  std::string corner = {};              ///< What stands above the names of the rows.
  std::vector<std::string> names = {};  ///< One a column; empty: there is no header.
  [[nodiscard]] bool given() const noexcept { return !names.empty(); }
};

/// How a file was read: what its user is told of it.
struct table_reading {
  std::string rows_named_by = {};     ///< "column 1"; empty: rows have no names.
  std::string columns_named_by = {};  ///< "line 1"; empty: columns have no names.
  /// Each says what was taken for what, where another reading is likely too, and the option that
  /// changes it.
  std::vector<std::string> notes = {};
};

/// What was read.
struct table {
  any_matrix values = {};
  /// Instead of `values`, which are empty then: a sparse file that was asked for as it is.
  std::optional<sparse_matrix> sparse = {};
  /// Instead of `values`, too: fingerprints (fingerprints.hpp).
  std::optional<bit_matrix> bits = {};
  row_names names = {};
  column_names columns = {};
  table_reading reading = {};
  /// Where the first NaN stands.
  std::optional<input_position> first_nan = {};
  index_t missing = 0;  ///< How many NaN there are.
  [[nodiscard]] index_t rows() const noexcept;
  [[nodiscard]] index_t cols() const noexcept;
  /// "int8", "float64", ...; "bits" of fingerprints.
  [[nodiscard]] std::string_view element_name() const noexcept;
};

/// The NaN of a matrix. The first one is in the first row that has any, or, `by_columns`, in the
/// first such column.
[[nodiscard]] stored_nans find_nans(const any_matrix& values, bool by_columns = false);

}  // namespace gpu::io
