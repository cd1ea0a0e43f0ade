#pragma once
// The report of a run, as text for people and as JSON for programs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/max_t.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/file_digest.hpp"
#include "io/table.hpp"

namespace gpu::cli {

enum class run_status {
  complete,
  interrupted,   ///< By a signal.
  output_closed  ///< Nobody read the result any more.
};

/// How many names a table has, and where they stand.
struct report_names {
  std::uint64_t rows = 0;
  std::string rows_from = {};  ///< "column 1"
  std::uint64_t columns = 0;
  std::string columns_from = {};  ///< "line 1"
};

struct report_input {
  std::string name = {};  ///< As it was given.
  std::optional<io::file_digest> digest = {};
  std::optional<report_names> names = {};  ///< Where they are known.
  std::vector<std::string> notes = {};     ///< What may be read otherwise.

  /// Says how `rows` rows and `cols` columns were read.
  void add(const io::table_reading& reading, index_t rows, index_t cols);
};

struct report_permutations {
  max_t_options how = {.permutations = 0};  ///< 0: there are none.
  double seconds = 0;
};

struct run_report {
  run_status status = run_status::complete;
  report_input input = {};
  std::optional<report_input> against = {};  ///< Of x against y.
  std::vector<std::string> command_line = {};
  bool has_p = true;               ///< Whether the measure has a significance test.
  bool is_of_differences = false;  ///< Whether the cuts are those on z of differential correlation.
  pair_summary summary = {};       ///< Of a run that is not complete, rows and cols alone.
  bool is_table_read = false;      ///< Whether rows and cols are known.
  /// Sum over the kept pairs of i * columns + j, modulo 2^64, with as many columns as the rows have
  /// partners: rows, or rows of y; only where the pairs pass by.
  std::optional<std::uint64_t> edge_sum = {};
  report_permutations permutations = {};
  double read_seconds = 0;
  double write_between_seconds = 0;  ///< Writing while the pairs are computed.
  double write_after_seconds = 0;    ///< Writing afterwards.
  double total_seconds = 0;
  /// Seconds of the pairs alone, without the writing between them.
  [[nodiscard]] double pairs_seconds() const;
  [[nodiscard]] double write_seconds() const { return write_between_seconds + write_after_seconds; }
};

/// The report as JSON. What is not known, of a run that is not complete, is null.
[[nodiscard]] std::string to_json(const run_report& report);

/// The same in a few lines of text, of a complete run.
[[nodiscard]] std::string to_text(const run_report& report);

/// How many names the tables have and where they stand, a line for each table; "" where that is
/// unknown.
[[nodiscard]] std::string names_text(const run_report& report);

/// What few observations mean for p of ranks, without a line end; "" from 10 on, and of other
/// tests.
[[nodiscard]] std::string few_columns_text(const pair_summary& summary);

/// "p <= 0.05, |statistic| >= 0.2": what was kept.
[[nodiscard]] std::string cuts_text(const run_report& report);

struct row_report {
  run_status status = run_status::complete;
  report_input input = {};
  std::vector<std::string> command_line = {};
  bool is_shape_known = false;  ///< Whether cols is known, and rows those that were taken so far.
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  backend used = backend::cpu;
  std::uint64_t bytes_written = 0;
  double read_seconds = 0;  ///< Waiting for rows: they are read ahead.
  double compute_seconds = 0;
  double write_seconds = 0;
  double total_seconds = 0;
};

[[nodiscard]] std::string to_json(const row_report& report);
[[nodiscard]] std::string to_text(const row_report& report);

/// "1.5 GB"
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace gpu::cli
