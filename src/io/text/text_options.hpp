#pragma once
// What a user says of a text table.

#include <limits>
#include <string>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::io {

/// A property that is found out, or forced.
enum class choice { automatic, yes, no };

/// What separates the fields of a line; `blanks` is any run of spaces and tabs.
enum class delimiter { automatic, tab, semicolon, comma, bar, blanks };

/// Rows of a file: those from number `begin` on and in front of `end`, counted from 0.
struct row_range {
  index_t begin = 0;
  index_t end = std::numeric_limits<index_t>::max();  ///< The greatest value: all that follow.

  [[nodiscard]] bool is_open() const { return end == std::numeric_limits<index_t>::max(); }
  [[nodiscard]] bool is_all() const { return begin == 0 && is_open(); }
};

struct text_options {
  choice header = choice::automatic;     ///< Whether the first line names the columns.
  choice row_names = choice::automatic;  ///< Whether each line has a name for its row.
  delimiter separator = delimiter::automatic;
  char decimal = '.';        ///< What stands before the fraction of a number: '.' or ','.
  std::string comment = {};  ///< Lines that begin so are left out; empty: none are.
  /// Words for a missing value beside the usual ones; a number stands for every way to write it.
  std::vector<std::string> missing = {};
  /// The columns of values, each as a number from 1 (names of rows included), a range of such ("4-"
  /// goes to the last), or the name that the header gives; empty: all.
  std::vector<std::string> columns = {};
  std::vector<std::string> skip_columns = {};  ///< Columns to leave out, by number or by name.
  std::string names_column = {};               ///< Which column names the rows; empty: the first.
  row_range rows = {};                         ///< Which rows of the file are read, of any format.
  /// Names of rows that the file does not name, of any format, one a line; empty: those that lie
  /// next to a sparse file (names_beside.hpp).
  std::string names_file = {};
};

}  // namespace gpu::io
