#pragma once
// What a user says of a text table.

#include <string>
#include <vector>

namespace gpu::io {

/// A property that is found out, or forced.
enum class choice { automatic, yes, no };

/// What separates the fields of a line; `blanks` is any run of spaces and tabs.
enum class delimiter { automatic, tab, semicolon, comma, bar, blanks };

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
  std::vector<std::string> skip_columns = {};  ///< Columns that are not read, in the same words.
  std::string names_column = {};               ///< Which column names the rows; empty: the first.
  /// Names of the rows of a sparse file, one a line; empty: what lies beside it (names_beside.hpp).
  std::string names_file = {};
};

}  // namespace gpu::io
