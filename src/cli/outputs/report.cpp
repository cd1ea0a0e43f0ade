#include "cli/outputs/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <gpu/version.hpp>

#include "base/check_enumerator.hpp"
#include "base/counted.hpp"
#include "cli/outputs/json_record.hpp"

namespace gpu::cli {
namespace {

std::string_view to_string(run_status status) {
  return detail::name_in(status, {"complete", "interrupted", "output closed"});
}

/// Seconds to a millionth.
double rounded(double seconds) {
  constexpr double unit = 1e6;
  return std::round(seconds * unit) / unit;
}

}  // namespace

static void each_member(const report_names& n, json_writer& see) {
  const auto place = [&see](std::string_view name, const std::string& from) {
    see(name, from.empty() ? std::nullopt : std::optional(from));
  };
  see("of_rows", n.rows);
  place("of_rows_from", n.rows_from);
  see("of_columns", n.columns);
  place("of_columns_from", n.columns_from);
}

static void each_member(const report_input& input, json_writer& see) {
  see("name", input.name);
  if (input.digest) {
    see.add(*input.digest);
  } else {
    see("bytes", std::nullopt);
    see("crc32", std::nullopt);
  }
  see("names", input.names);
  see("notes", input.notes);
}

static void each_member(const report_permutations& p, json_writer& see) {
  see("number", p.how.permutations);
  see("seed", p.how.seed);
  see("shuffle", p.how.shuffle);
  see("seconds", rounded(p.seconds));
}

namespace {

/// One line on the names of a table.
std::string names_text(const report_input& input) {
  if (!input.names) return "";
  const report_names& n = *input.names;
  const auto part = [](std::uint64_t count, const char* what, const std::string& from) {
    return count == 0 ? fmt::format("no names of {}", what)
                      : fmt::format("{} names of {} from {}", count, what, from);
  };
  return fmt::format("{}, {}\n", part(n.rows, "rows", n.rows_from),
                     part(n.columns, "columns", n.columns_from));
}

template <class Report>
void add_run(json_writer& members, const Report& r) {
  members("version", GPU_SIMILARITY_VERSION);
  members("command", r.command_line);
  members("status", to_string(r.status));
  members("input", r.input);
}

/// Writes the members of a summary that are known.
struct known_members {
  json_writer& out;
  const run_report& r;

  template <class Value>
  void operator()(std::string_view name, const Value& value) {
    out(name, is_known(name) ? std::optional(value) : std::nullopt);
  }

 private:
  [[nodiscard]] bool is_known(std::string_view name) const {
    const pair_summary& s = r.summary;
    const bool is_complete = r.status == run_status::complete;
    if (name == "rows" || name == "cols") return r.is_table_read;
    if (name == "y_rows") return r.is_table_read && r.against;
    if (name.starts_with("y_")) return is_complete && r.against;
    if (name == "observations") return is_complete && r.has_p;
    // Counts and dense results give no pairs one by one.
    if (name == "checksum") return is_complete && (s.checksum.count > 0 || s.pairs_kept == 0);
    return is_complete;
  }
};

/// Which statistics were kept, with their sign.
std::string cut_text(const pair_summary& s, std::string_view statistic) {
  const bool keeps_positive = std::isfinite(s.cut_at_least);
  const bool keeps_negative = std::isfinite(s.cut_at_most);
  if (keeps_positive && keeps_negative) {
    return fmt::format("|{}| >= {:.6g}", statistic, s.cut_at_least);
  }
  if (keeps_positive) return fmt::format("{} >= {:.6g}", statistic, s.cut_at_least);
  if (keeps_negative) return fmt::format("{} <= {:.6g}", statistic, s.cut_at_most);
  return "which no statistic reaches";
}

}  // namespace

void report_input::add(const io::table_reading& reading, index_t rows, index_t cols) {
  const auto count = [](const std::string& from, index_t all) {
    return from.empty() ? 0 : static_cast<std::uint64_t>(all);
  };
  names = {.rows = count(reading.rows_named_by, rows),
           .rows_from = reading.rows_named_by,
           .columns = count(reading.columns_named_by, cols),
           .columns_from = reading.columns_named_by};
  notes = reading.notes;
}

double run_report::pairs_seconds() const {
  return std::max(0.0, summary.pairs_seconds - write_between_seconds);
}

std::string to_json(const run_report& r) {
  json_writer members;
  add_run(members, r);
  members("against", r.against);
  members("permutations",
          r.permutations.how.permutations > 0 ? std::optional(r.permutations) : std::nullopt);
  known_members known{members, r};
  each_member(r.summary, known);
  const row_counts without = counts_of(r.summary);
  each_member(without, known);
  members("edge_sum", r.edge_sum);
  json_writer seconds;
  seconds("read", rounded(r.read_seconds));
  seconds("prepare", rounded(r.summary.prepare_seconds));
  seconds("pairs", rounded(r.pairs_seconds()));
  seconds("write", rounded(r.write_seconds()));
  seconds("total", rounded(r.total_seconds));
  members("seconds", seconds);
  return members.lines();
}

std::string names_text(const run_report& r) {
  std::string out = names_text(r.input);
  if (r.against && r.against->names) out += "against: " + names_text(*r.against);
  return out;
}

std::string cuts_text(const run_report& r) {
  const pair_summary& s = r.summary;
  const std::string p_text =
      r.has_p ? fmt::format("p <= {:.6g}, ", s.max_p_effective) : std::string();
  return p_text + cut_text(s, r.is_of_differences ? "z" : "statistic");
}

std::string few_columns_text(const pair_summary& s) {
  constexpr index_t few = 10;
  if (s.least_p == 0 || s.observations >= few) return "";
  return fmt::format("{} observations: no p of ranks is below 2 / {}! = {:.3g}{}", s.observations,
                     s.observations, s.least_p,
                     s.max_p_effective < s.least_p
                         ? fmt::format(", so none passes the cut p <= {:.3g}", s.max_p_effective)
                         : std::string());
}

std::string to_text(const run_report& r) {
  const pair_summary& s = r.summary;
  std::string out =
      r.against ? fmt::format("{} rows against {} rows x {} columns", s.rows, s.y_rows, s.cols)
                : fmt::format("{} rows x {} columns", s.rows, s.cols);
  if (s.observations != static_cast<double>(s.cols) && r.has_p) {
    out += fmt::format(", tests of {} observations", double{s.observations});
  }
  out += fmt::format(", {} tested, {} kept\n", gpu::detail::counted(s.pairs_tested, "pair"),
                     s.pairs_kept);
  out += names_text(r);
  out.pop_back();
  if (s.patterns > 0) out += fmt::format("\n{} distinct rows of ranks", s.patterns);
  const std::size_t constant = s.constant_rows.size() + s.y_constant_rows.size();
  const std::size_t with_nan = s.nan_rows.size() + s.y_nan_rows.size();
  if (constant > 0)
    out += fmt::format("\n{} no correlation", gpu::detail::counted_have(constant, "constant row"));
  const std::size_t infinite = s.infinite_rows.size() + s.y_infinite_rows.size();
  if (infinite > 0) {
    out += fmt::format("\n{} with an infinite value {} no correlation",
                       gpu::detail::counted(infinite, "row"), infinite == 1 ? "has" : "have");
  }
  if (with_nan > 0) {
    out += fmt::format("\n{} with a NaN left out", gpu::detail::counted(with_nan, "row"));
  }
  if (s.test == significance::permutations) {
    out += fmt::format("\n{} p by permutations",
                       gpu::detail::counted_have(s.pairs_tested - s.pairs_by_t, "pair"));
  }
  if (s.pairs_by_t > 0) {
    out += fmt::format("\n{} p of Student's t, because of ties or of their columns",
                       gpu::detail::counted_have(s.pairs_by_t, "pair"));
  }
  out += fmt::format("\n{}", cuts_text(r));
  if (const max_t_options& how = r.permutations.how; how.permutations > 0) {
    out += fmt::format(", by {} {} in {:.3f} s", how.permutations,
                       how.shuffle == column_shuffle::circular ? "circular shifts" : "permutations",
                       r.permutations.seconds);
  }
  out += fmt::format("\n{} ({}), {}", gpu::to_string(s.used), s.device, gpu::to_string(s.variant));
  const double pairs = r.pairs_seconds();
  if (pairs > 0) {
    out += fmt::format(": {:.3g} pairs/s", static_cast<double>(s.pairs_tested) / pairs);
  }
  out += fmt::format(
      "\nread {:.3f} s, prepare {:.3f} s, pairs {:.3f} s, write {:.3f} s, total {:.3f} s\n",
      r.read_seconds, s.prepare_seconds, pairs, r.write_seconds(), r.total_seconds);
  return out;
}

std::string to_json(const row_report& r) {
  const bool is_complete = r.status == run_status::complete;
  json_writer members;
  add_run(members, r);
  members("rows", is_complete ? std::optional(r.rows) : std::nullopt);
  members("cols", r.is_shape_known ? std::optional(r.cols) : std::nullopt);
  members("backend", r.used);
  members("bytes_written", is_complete ? std::optional(r.bytes_written) : std::nullopt);
  json_writer seconds;
  seconds("read", rounded(r.read_seconds));
  seconds("compute", rounded(r.compute_seconds));
  seconds("write", rounded(r.write_seconds));
  seconds("total", rounded(r.total_seconds));
  members("seconds", seconds);
  return members.lines();
}

std::string to_text(const row_report& r) {
  return fmt::format(
      "{} rows x {} columns, {} written ({})\n{}"
      "read {:.3f} s, compute {:.3f} s, write {:.3f} s, total {:.3f} s\n",
      r.rows, r.cols, bytes_text(static_cast<double>(r.bytes_written)), gpu::to_string(r.used),
      names_text(r.input), r.read_seconds, r.compute_seconds, r.write_seconds, r.total_seconds);
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  constexpr double step = 1000;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace gpu::cli
