#pragma once
// The tables of a job of pairs.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/matrix.hpp>
#include <gpu/pair_options.hpp>

#include "cli/options/options.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/differential/group_labels.hpp"
#include "io/file_digest.hpp"
#include "io/table.hpp"

namespace gpu::cli {

/// One table, or two: every row of x then meets every row of y.
struct input_tables {
  io::table x;
  std::optional<io::table> y = {};
  /// Of the bytes that the tables were read from; of jobs in parts alone.
  std::optional<io::file_digest> x_digest = {};
  std::optional<io::file_digest> y_digest = {};
  matrix<double> covariates = {};    ///< [covariates, columns], or empty.
  std::vector<double> weights = {};  ///< Of the columns, or empty.
  std::optional<io::file_digest> covariates_digest = {};
  std::optional<io::file_digest> weights_digest = {};
  labelled_groups groups = {};  ///< Of differential, its columns.

  [[nodiscard]] index_t rows() const { return x.rows(); }
  [[nodiscard]] index_t cols() const { return x.cols(); }
  /// Rows of what the rows meet: the columns of the matrix of all pairs.
  [[nodiscard]] index_t partners() const { return y ? y->rows() : x.rows(); }
  /// The options with the covariates and the weights, which live as long as this.
  [[nodiscard]] pair_options with_columns(pair_options options) const {
    options.covariates = covariates.view();
    options.column_weights = weights;
    return options;
  }
  /// Whether there is a p, as far as the weights decide it.
  [[nodiscard]] bool has_test(const pair_options& options) const {
    return weights.empty() || options.effective_observations > 0;
  }
  /// The observations of a test, where there is one.
  [[nodiscard]] observation_count observations(const pair_options& options) const {
    const observation_count all = options.effective_observations > 0
                                      ? options.effective_observations
                                      : observation_count(cols());
    return all - observation_count(covariates.rows());
  }
};

/// What to say of the missing values of `table`, which has some: how many, and the names
/// of the row and the column of the first, where they have names.
/// @param transposes whether the rows of the table are the columns of the file
[[nodiscard]] std::string missing_text(const io::table& table, bool transposes,
                                       std::string_view hint);

/// What is said of a table that a verb over rows takes whole, and its missing values.
/// @throw io::input_error, which says `hint`, where the options reject them
void check_table(const job_files& job, const io::table& table, const pair_options& options,
                 std::string_view hint);

/// Reads the input of `job` and checks that it has pairs.
/// @throw io::input_error, io::interrupted
[[nodiscard]] input_tables read_input(const pairs_command& job, progress_line& line);

}  // namespace gpu::cli
