#include "cli/verbs/read_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/counted.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/table_notes.hpp"
#include "io/columns/column_order.hpp"
#include "io/field_text.hpp"
#include "io/io_error.hpp"
#include "io/output_form.hpp"
#include "io/read/read_table.hpp"

namespace gpu::cli {
namespace {

/// @throw io::input_error, which says `hint`, where a value is missing and `options` reject it
void check_missing(const std::string& file, const io::table& table, const pair_options& options,
                   bool transposes, std::string_view hint) {
  if (!table.first_nan || options.nans != nan_policy::reject) return;
  const bool has_columns = !table.sparse && !table.first_nan->is_in_array;  // that can be left out
  throw io::input_error(
      file, *table.first_nan,
      missing_text(table, transposes,
                   fmt::format("{}{}", hint, has_columns ? ", --skip-columns columns" : "")));
}

void check_shape(const std::string& file, const io::table& table, index_t fewest_rows,
                 index_t fewest_cols, bool is_transposed) {
  if (table.rows() < fewest_rows) {
    throw io::input_error(file, {},
                          fmt::format("got {} of numbers, expected at least {}: there are no pairs",
                                      gpu::detail::counted(table.rows(), "row"), fewest_rows));
  }
  if (table.cols() < fewest_cols) {
    const bool may_turn = !is_transposed && table.rows() >= fewest_cols;
    throw io::input_error(
        file, {},
        fmt::format("got {} of numbers, expected at least {} observations{}",
                    gpu::detail::counted(table.cols(), "column"), fewest_cols,
                    may_turn ? " (--transpose takes the columns as variables)" : ""));
  }
}

/// Leaves out what chooses and names rows of INPUT, which are not those of another table; with
/// --transpose its rows are the observations of all tables.
void leave_rows_of_input(io::text_options& text, bool transposes) {
  text.names_file.clear();
  if (!transposes) text.rows = {};
}

io::table read_one(const pairs_command& job, bool is_input, index_t fewest_rows,
                   progress_line& line, std::optional<io::file_digest>& digest) {
  const std::string& file = is_input ? job.input : job.against;
  io::text_options text = job.text;
  if (!is_input) leave_rows_of_input(text, job.transposes);
  const std::string name = file == "-" ? "standard input" : file;
  line.show("reading " + name);
  const bool is_in_parts = job.is_part || job.resumes;
  const bool is_digested = is_in_parts || !job.report.empty();
  const io::read_options options{.text = text,
                                 .transposes = job.transposes,
                                 .threads = job.pairs.exec.cpu_threads,
                                 .stop = is_interrupted,
                                 .max_bytes = job.max_input_bytes,
                                 .digest = is_digested ? &digest.emplace() : nullptr,
                                 .digests_names = is_in_parts,
                                 .keeps_sparse = !job.fingerprints};
  io::table table = job.fingerprints ? io::read_fingerprints(file, options, *job.fingerprints)
                                     : io::read_table(file, options);
  if (text.rows.begin > 0 && !job.transposes && !table.names.given()) {
    table.reading.notes.push_back(
        fmt::format("rows without names are counted anew: X1 is row {}", text.rows.begin + 1));
  }
  for (std::string& told : table_notes(table, job.transposes, job.pairs.exec.cpu_threads)) {
    table.reading.notes.push_back(std::move(told));
  }
  if (!job.quiet) {
    line.clear();
    note(name, table.reading.notes);
  }
  check_missing(name, table, job.pairs, job.transposes,
                job.is_differential()
                    ? "--nan propagate leaves out rows that miss a value of a group"
                    : "--nan pairwise leaves them out pair by pair, --nan propagate such rows");
  check_shape(name, table, fewest_rows, job.fingerprints ? 1 : 3, job.transposes);
  if (job.format != io::result_format::npy) {
    // From here on names are what the lines of the result have.
    auto quoted = io::fields_of(table.names, io::separator_of(job.format));
    if (quoted) table.names = std::move(*quoted);
  }
  return table;
}

/// Row and column of the NaN that comes first in the file.
std::optional<std::pair<index_t, index_t>> first_nan_of(const io::table& table, bool transposes) {
  if (table.sparse) {
    const io::stored_nans found = io::find_nans(*table.sparse);
    const bool is_there = found.count == 1 || !transposes;  // else another is first in the file
    return is_there ? found.first : std::nullopt;
  }
  return io::find_nans(table.values, transposes).first;
}

/// " in row 'g1', column 'c'", as far as they have names.
std::string names_of_first(const io::table& table, bool transposes) {
  if (!table.names.given() && !table.columns.given()) return {};
  const auto place = first_nan_of(table, transposes);
  if (!place) return {};
  std::string row;
  std::string column;
  if (table.names.given()) row = "row " + io::quoted(table.names[place->first]);
  if (table.columns.given()) {
    column = "column " + io::quoted(table.columns.names[static_cast<std::size_t>(place->second)]);
  }
  const bool has_both = !row.empty() && !column.empty();
  return fmt::format(" in {}{}{}", row, has_both ? ", " : "", column);
}

}  // namespace

void check_table(const job_files& job, const io::table& table, const pair_options& options,
                 std::string_view hint) {
  if (!job.quiet) {
    note(job.input == "-" ? "standard input" : job.input,
         table_notes(table, job.transposes, options.exec.cpu_threads));
  }
  check_missing(job.input, table, options, job.transposes, hint);
}

std::string missing_text(const io::table& table, bool transposes, std::string_view hint) {
  const bool is_array = table.first_nan && table.first_nan->is_in_array;
  const std::string count =
      table.missing > 1 ? fmt::format(", the first of {}", table.missing) : std::string();
  return fmt::format("got {}{}{}, expected a number ({})", is_array ? "NaN" : "a missing value",
                     names_of_first(table, transposes), count, hint);
}

namespace {

/// The names of the columns of INPUT in a file that is read with it, in its order.
struct named_columns {
  const pairs_command& job;
  const std::vector<std::string>& input;  // none: INPUT does not name its columns

  /// Where each column of INPUT is in `file`, whose columns have these names; nothing where they
  /// are taken in the order that they have.
  /// @throw io::input_error where they have other names, and where it is not said which is which
  [[nodiscard]] std::optional<std::vector<index_t>> order_of(
      const std::string& file, const std::vector<std::string>& names) const {
    if (job.match == column_match::position || input.empty() || names.empty()) return std::nullopt;
    if (names == input) return std::nullopt;
    io::name_match match = io::match_names(input, names);
    const std::string of_input = io::printable(job.input == "-" ? "INPUT" : job.input);
    std::string fault;
    if (match.missing.is_there()) {
      fault = fmt::format("{} of {} is missing", match.missing.text(), of_input);
    }
    if (match.unknown.is_there()) {
      fault += fmt::format("{}got {}, which {} does not have", fault.empty() ? "" : "; ",
                           match.unknown.text(), of_input);
    }
    if (fault.empty()) {
      const bool is_of_input = match.repeated_in_wanted.is_there();
      const auto& repeated = is_of_input ? match.repeated_in_wanted : match.repeated_in_given;
      if (!repeated.is_there()) return std::move(match.place);
      fault = fmt::format("the order of the columns is not that of {}, and the name of {} repeats",
                          of_input, repeated.text());
    }
    const bool may_be_paired = names.size() == input.size();
    throw io::input_error(
        file, {},
        may_be_paired
            ? fmt::format("{}: columns are matched by name. --match position pairs them in order",
                          fault)
            : fmt::format("got {} of numbers, expected {} as in {}: {}",
                          gpu::detail::counted(names.size(), "column"), input.size(), of_input,
                          fault));
  }

  /// Says that the columns of `file` were put in another order.
  std::string note_order(const std::string& file, progress_line& line) const {
    const std::string text =
        "columns are matched with those of INPUT by name, in another order here. --match position "
        "pairs them in order";
    if (!job.quiet) {
      line.clear();
      note(file, {text});
    }
    return text;
  }
};

/// Puts the columns of `table` in the order of INPUT.
void match_columns(const named_columns& columns, const std::string& file, io::table& table,
                   progress_line& line) {
  const auto order = columns.order_of(file, table.columns.names);
  if (!order) return;
  io::reorder_columns(table, *order, columns.job.pairs.exec.cpu_threads);
  table.reading.notes.push_back(columns.note_order(file, line));
}

matrix<double> doubles_of(const io::table& table) {
  matrix<double> out(table.rows(), table.cols());
  std::visit(
      [&](const auto& values) {
        std::transform(values.data(), values.data() + values.rows() * values.cols(), out.data(),
                       [](auto value) { return static_cast<double>(value); });
      },
      table.values);
  return out;
}

/// A table of covariates or weights.
io::table read_beside(const pairs_command& job, const std::string& file,
                      const io::read_options& options, progress_line& line) {
  line.show("reading " + file);
  io::table table = io::read_table(file, options);
  if (!job.quiet) {
    line.clear();
    note(file, table.reading.notes);
  }
  if (table.first_nan) {
    throw io::input_error(
        file, *table.first_nan,
        missing_text(table, options.transposes, "no value may be missing in this table"));
  }
  return table;
}

io::read_options options_beside(const pairs_command& job, std::optional<io::file_digest>& digest) {
  const bool is_in_parts = job.is_part || job.resumes;
  io::text_options text = job.text;
  leave_rows_of_input(text, job.transposes);
  return {.text = text,
          .threads = job.pairs.exec.cpu_threads,
          .stop = is_interrupted,
          .max_bytes = job.max_input_bytes,
          .digest = is_in_parts ? &digest.emplace() : nullptr};
}

void read_covariates(const pairs_command& job, progress_line& line, input_tables& tables) {
  io::read_options options = options_beside(job, tables.covariates_digest);
  options.transposes = job.transposes;
  if (job.transposes) {
    // These choose rows then, and those of INPUT are others.
    options.text.columns = {};
    options.text.skip_columns = {};
  }
  io::table table = read_beside(job, job.covariates, options, line);
  match_columns({job, tables.x.columns.names}, job.covariates, table, line);
  tables.covariates = doubles_of(table);
  if (tables.covariates.rows() == 0) {
    throw io::input_error(job.covariates, {}, "got no row of numbers, expected at least 1");
  }
  if (tables.covariates.cols() != tables.cols()) {
    throw io::input_error(job.covariates, {},
                          fmt::format("got {} of numbers, expected {} as in {}",
                                      gpu::detail::counted(tables.covariates.cols(), "column"),
                                      tables.cols(), job.input));
  }
}

void read_weights(const pairs_command& job, progress_line& line, input_tables& tables) {
  io::read_options options = options_beside(job, tables.weights_digest);
  options.text.header = io::choice::automatic;
  options.text.row_names = io::choice::automatic;
  options.text.names_column = {};
  options.text.columns = {};
  options.text.skip_columns = {};
  options.text.rows = {};
  options.text.missing = {};  // none may be
  const io::table table = read_beside(job, job.weights, options, line);
  const index_t count = table.rows() * table.cols();
  if ((table.rows() != 1 && table.cols() != 1) || count != tables.cols()) {
    throw io::input_error(
        job.weights, {},
        fmt::format("got {} x {} numbers, expected one row or one column of {}, the columns of "
                    "numbers in {}",
                    table.rows(), table.cols(), tables.cols(), job.input));
  }
  const matrix<double> values = doubles_of(table);
  tables.weights.assign(values.data(), values.data() + count);
  std::vector<std::string> names;
  if (table.cols() > 1) {
    names = table.columns.names;
  } else if (table.names.given()) {
    for (index_t i = 0; i < count; ++i) names.emplace_back(table.names[i]);
  }
  const named_columns columns{job, tables.x.columns.names};
  const auto order = columns.order_of(job.weights, names);
  if (!order) return;
  for (std::size_t k = 0; k < order->size(); ++k) {
    tables.weights[k] = values.data()[(*order)[k]];
  }
  static_cast<void>(columns.note_order(job.weights, line));
}

}  // namespace

input_tables read_input(const pairs_command& job, progress_line& line) {
  input_tables tables;
  tables.x = read_one(job, true, job.against.empty() ? 2 : 1, line, tables.x_digest);
  if (job.is_differential()) {
    tables.groups = groups_of(job.groups, tables.cols(), tables.x.columns);
  }
  if (!job.covariates.empty()) read_covariates(job, line, tables);
  if (!job.weights.empty()) read_weights(job, line, tables);
  if (job.against.empty()) return tables;
  tables.y = read_one(job, false, 1, line, tables.y_digest);
  match_columns({job, tables.x.columns.names}, job.against, *tables.y, line);
  if (tables.y->cols() != tables.cols()) {
    throw io::input_error(
        job.against, {},
        fmt::format("got {} {}, expected {} as in {}", tables.y->cols(),
                    job.fingerprints ? "bits" : "columns of numbers", tables.cols(), job.input));
  }
  return tables;
}

}  // namespace gpu::cli
