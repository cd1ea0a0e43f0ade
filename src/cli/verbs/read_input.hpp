#pragma once
// The tables of a job of pairs.

#include <optional>
#include <string>
#include <string_view>

#include "cli/options/options.hpp"
#include "cli/process/progress_line.hpp"
#include "io/file_digest.hpp"
#include "io/table.hpp"

namespace gpu::cli {

/// One table, or two of which every row of x meets every row of y.
struct input_tables {
  io::table x;
  std::optional<io::table> y = {};
  /// Of the bytes that the tables were read from; of jobs in parts alone.
  std::optional<io::file_digest> x_digest = {};
  std::optional<io::file_digest> y_digest = {};

  [[nodiscard]] index_t rows() const { return x.rows(); }
  [[nodiscard]] index_t cols() const { return x.cols(); }
  /// Rows of what the rows meet: the columns of the matrix of all pairs.
  [[nodiscard]] index_t partners() const { return y ? y->rows() : x.rows(); }
};

/// What to say of the missing values of `table`, of which there are some: how many, and the names
/// of the row and the column of the first, where they have names.
/// @param transposes whether the rows of the table are the columns of the file
[[nodiscard]] std::string missing_text(const io::table& table, bool transposes,
                                       std::string_view hint);

/// Reads the input of `job` and checks that it has pairs.
/// @throw io::input_error, io::interrupted
[[nodiscard]] input_tables read_input(const pairs_command& job, progress_line& line);

}  // namespace gpu::cli
