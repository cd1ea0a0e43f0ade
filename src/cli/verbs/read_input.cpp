#include "cli/verbs/read_input.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "io/field_text.hpp"
#include "io/io_error.hpp"
#include "io/output_form.hpp"
#include "io/read/read_table.hpp"

namespace gpu::cli {
namespace {

void check_nans(const pairs_command& job, const std::string& file, const io::table& table) {
  if (job.pairs.nans != nan_policy::reject) return;
  if (!table.first_nan) return;
  throw io::input_error(
      file, *table.first_nan,
      missing_text(table, job.transposes,
                   "--nan pairwise leaves them out pair by pair, --nan propagate such rows, "
                   "--skip-columns columns"));
}

/// Rows are variables here; elsewhere they mostly are observations.
void add_shape_note(io::table& table) {
  constexpr index_t many = 1000;
  constexpr index_t far_more = 100;
  if (table.names.given() || table.rows() < many || table.rows() / far_more < table.cols()) return;
  table.reading.notes.push_back(fmt::format(
      "{} rows without names x {} columns: each row is a variable. --transpose takes the "
      "columns as variables",
      table.rows(), table.cols()));
}

void check_shape(const std::string& file, const io::table& table, index_t fewest_rows) {
  constexpr index_t fewest_cols = 3;
  if (table.rows() < fewest_rows) {
    throw io::input_error(
        file, {},
        fmt::format("got {} row{} of numbers, expected at least {}: there are no pairs",
                    table.rows(), table.rows() == 1 ? "" : "s", fewest_rows));
  }
  if (table.cols() < fewest_cols) {
    throw io::input_error(
        file, {},
        fmt::format("got {} columns of numbers, expected at least {} observations", table.cols(),
                    fewest_cols));
  }
}

io::table read_one(const pairs_command& job, const std::string& file, index_t fewest_rows,
                   progress_line& line, std::optional<io::file_digest>& digest) {
  const std::string name = file == "-" ? "standard input" : file;
  line.show("reading " + name);
  const bool is_in_parts = job.is_part || job.resumes;
  io::table table = io::read_table(file, {.text = job.text,
                                          .transposes = job.transposes,
                                          .threads = job.pairs.exec.cpu_threads,
                                          .stop = is_interrupted,
                                          .max_bytes = job.max_input_bytes,
                                          .digest = is_in_parts ? &digest.emplace() : nullptr});
  add_shape_note(table);
  if (!job.quiet) {
    line.clear();
    note(name, table.reading.notes);
  }
  check_nans(job, name, table);
  check_shape(name, table, fewest_rows);
  if (io::has_fields(job.format)) {
    // From here on names are what the lines of the result have.
    auto quoted = io::fields_of(table.names, io::separator_of(job.format));
    if (quoted) table.names = std::move(*quoted);
  }
  return table;
}

}  // namespace

namespace {

/// Row and column of the NaN that comes first in the file.
std::optional<std::pair<index_t, index_t>> first_nan_of(const io::table& table, bool transposes) {
  return std::visit(
      [&](const auto& values) -> std::optional<std::pair<index_t, index_t>> {
        const index_t outer = transposes ? values.cols() : values.rows();
        const index_t inner = transposes ? values.rows() : values.cols();
        for (index_t i = 0; i < outer; ++i) {
          for (index_t j = 0; j < inner; ++j) {
            const index_t row = transposes ? j : i;
            const index_t col = transposes ? i : j;
            if (values(row, col) != values(row, col)) return std::pair(row, col);
          }
        }
        return std::nullopt;
      },
      table.values);
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

std::string missing_text(const io::table& table, bool transposes, std::string_view hint) {
  const bool is_array = table.first_nan && table.first_nan->is_in_array;
  const std::string count =
      table.missing > 1 ? fmt::format(", the first of {}", table.missing) : std::string();
  return fmt::format("got {}{}{}, expected a number ({})", is_array ? "NaN" : "a missing value",
                     names_of_first(table, transposes), count, hint);
}

input_tables read_input(const pairs_command& job, progress_line& line) {
  input_tables tables;
  tables.x = read_one(job, job.input, job.against.empty() ? 2 : 1, line, tables.x_digest);
  if (job.against.empty()) return tables;
  tables.y = read_one(job, job.against, 1, line, tables.y_digest);
  if (tables.y->cols() != tables.cols()) {
    throw io::input_error(job.against, {},
                          fmt::format("got {} columns of numbers, expected {} as in {}",
                                      tables.y->cols(), tables.cols(), job.input));
  }
  return tables;
}

}  // namespace gpu::cli
