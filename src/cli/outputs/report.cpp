#include "cli/outputs/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <gpu/backend.hpp>
#include <gpu/version.hpp>

#include "io/json.hpp"

namespace gpu::cli {
namespace {

using io::json_members;
using io::json_number;
using io::json_text;

std::string_view to_string(run_status status) {
  switch (status) {
    case run_status::complete:
      return "complete";
    case run_status::interrupted:
      return "interrupted";
    case run_status::output_closed:
      return "output closed";
  }
  return "unknown";
}

std::string input_text(const report_input& input) {
  const std::string digest = input.digest ? fmt::format("\"bytes\": {}, \"crc32\": \"{:08x}\"",
                                                        input.digest->bytes, input.digest->crc32)
                                          : std::string("\"bytes\": null, \"crc32\": null");
  std::string names = "null";
  if (input.names) {
    const auto text_or_null = [](const std::string& text) {
      return text.empty() ? std::string("null") : json_text(text);
    };
    const report_names& n = *input.names;
    names = fmt::format(
        "{{\"of_rows\": {}, \"of_rows_from\": {}, \"of_columns\": {}, \"of_columns_from\": {}}}",
        n.rows, text_or_null(n.rows_from), n.columns, text_or_null(n.columns_from));
  }
  std::string notes;
  for (const std::string& text : input.notes)
    notes += (notes.empty() ? "" : ", ") + json_text(text);
  return fmt::format("{{\"name\": {}, {}, \"names\": {}, \"notes\": [{}]}}", json_text(input.name),
                     digest, names, notes);
}

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
void add_run(json_members& members, const Report& r) {
  members.add("version", json_text(GPU_SIMILARITY_VERSION));
  std::string words;
  for (const std::string& word : r.command_line) {
    words += (words.empty() ? "" : ", ") + json_text(word);
  }
  members.add("command", "[" + words + "]");
  members.add("status", json_text(to_string(r.status)));
  members.add("input", input_text(r.input));
}

void add_pairs_of(json_members& members, const run_report& r) {
  members.add("against", r.against ? input_text(*r.against) : std::string("null"));
  members.add("partial", r.partial ? fmt::format("{{\"output\": {}, \"edges\": {}, \"bytes\": {}}}",
                                                 json_text(r.partial->output), r.partial->edges,
                                                 r.partial->bytes)
                                   : std::string("null"));
  const max_t_options& how = r.permutations.how;
  members.add(
      "permutations",
      how.permutations > 0
          ? fmt::format("{{\"number\": {}, \"seed\": {}, \"shuffle\": \"{}\", "
                        "\"seconds\": {:.6f}}}",
                        how.permutations, how.seed, to_string(how.shuffle), r.permutations.seconds)
          : std::string("null"));
}

void add_summary(json_members& members, const run_report& r) {
  const pair_summary& s = r.summary;
  const bool is_complete = r.status == run_status::complete;
  members.add_count("rows", r.is_table_read, s.rows);
  members.add_count("cols", r.is_table_read, s.cols);
  members.add("observations", is_complete && r.has_p ? json_number(s.observations) : "null");
  members.add_count("constant_rows", is_complete, s.constant_rows.size());
  members.add_count("nan_rows", is_complete, s.nan_rows.size());
  members.add_count("infinite_rows", is_complete, s.infinite_rows.size());
  members.add_count("y_rows", r.is_table_read && r.against, s.y_rows);
  members.add_count("y_constant_rows", is_complete && r.against, s.y_constant_rows.size());
  members.add_count("y_nan_rows", is_complete && r.against, s.y_nan_rows.size());
  members.add_count("y_infinite_rows", is_complete && r.against, s.y_infinite_rows.size());
  members.add_count("patterns", is_complete, s.patterns);
  members.add_count("pairs_tested", is_complete, s.pairs_tested);
  members.add_count("pairs_kept", is_complete, s.pairs_kept);
  members.add_count("pairs_by_t", is_complete, s.pairs_by_t);
  members.add("test", is_complete ? json_text(gpu::to_string(s.test)) : std::string("null"));
  members.add("least_p", is_complete ? json_number(s.least_p) : std::string("null"));
  const auto add_cut = [&](std::string_view key, double cut) {
    members.add(key, is_complete ? json_number(cut) : std::string("null"));
  };
  add_cut("max_p_effective", s.max_p_effective);
  add_cut("min_abs_effective", s.min_abs_effective);
  add_cut("cut_at_least", s.cut_at_least);
  add_cut("cut_at_most", s.cut_at_most);
  members.add_count("edge_sum", r.edge_sum.has_value(), r.edge_sum.value_or(0));
  // Counts and dense results give no pairs one by one.
  const bool has_checksum = is_complete && (s.checksum.count > 0 || s.pairs_kept == 0);
  members.add("checksum", has_checksum ? json_text(gpu::to_string(s.checksum)) : "null");
  const auto add_name = [&](std::string_view key, std::string_view name) {
    members.add(key, is_complete ? json_text(name) : std::string("null"));
  };
  add_name("backend", gpu::to_string(s.used));
  add_name("device", s.device);
  add_name("variant", gpu::to_string(s.variant));
}

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
  json_members members;
  add_run(members, r);
  add_pairs_of(members, r);
  add_summary(members, r);
  members.add("seconds", fmt::format("{{\"read\": {:.6f}, \"prepare\": {:.6f}, \"pairs\": {:.6f}, "
                                     "\"write\": {:.6f}, \"total\": {:.6f}}}",
                                     r.read_seconds, r.summary.prepare_seconds, r.pairs_seconds(),
                                     r.write_seconds(), r.total_seconds));
  return members.object();
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
  out += fmt::format(", {} pairs tested, {} kept\n", s.pairs_tested, s.pairs_kept);
  out += names_text(r);
  out.pop_back();
  if (s.patterns > 0) out += fmt::format("\n{} distinct rows of ranks", s.patterns);
  const std::size_t constant = s.constant_rows.size() + s.y_constant_rows.size();
  const std::size_t nans = s.nan_rows.size() + s.y_nan_rows.size();
  if (constant > 0) out += fmt::format("\n{} constant rows have no correlation", constant);
  const std::size_t infinite = s.infinite_rows.size() + s.y_infinite_rows.size();
  if (infinite > 0) {
    out += fmt::format("\n{} row{} with an infinite value {} no correlation", infinite,
                       infinite == 1 ? "" : "s", infinite == 1 ? "has" : "have");
  }
  if (nans > 0) out += fmt::format("\n{} rows with a NaN left out", nans);
  if (s.test == significance::permutations) {
    out += fmt::format("\n{} pairs have p by permutations", s.pairs_tested - s.pairs_by_t);
  }
  if (s.pairs_by_t > 0) {
    out += fmt::format("\n{} pairs have p of Student's t, because of ties or of their columns",
                       s.pairs_by_t);
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
  json_members members;
  add_run(members, r);
  members.add_count("rows", is_complete, r.rows);
  members.add_count("cols", r.is_shape_known, r.cols);
  members.add("backend", json_text(gpu::to_string(r.used)));
  members.add_count("bytes_written", is_complete, r.bytes_written);
  members.add("seconds",
              fmt::format("{{\"read\": {:.6f}, \"compute\": {:.6f}, \"write\": {:.6f}, "
                          "\"total\": {:.6f}}}",
                          r.read_seconds, r.compute_seconds, r.write_seconds, r.total_seconds));
  return members.object();
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
