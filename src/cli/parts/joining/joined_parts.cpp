#include "cli/parts/joining/joined_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/parts/folder/discovery_steps.hpp"

namespace gpu::cli {
namespace {

void check_one_job(const part_folder& folder, const part_manifest& m, const part_manifest& first) {
  const std::string name = text_of({m.step, m.number, m.of});
  if (!(m.job == first.job)) {
    refuse_parts(folder, fmt::format("{} is of another job than {}: {}", name,
                                     text_of({first.step, first.number, first.of}),
                                     difference(m.job, first.job)));
  }
}

/// What all parts of a job say alike. Into how many patterns its rows were folded is the affair of
/// each.
auto decided(const part_manifest& m) {
  const pair_summary& s = m.summary;
  return std::tuple(s.rows, s.cols, s.y_rows, m.family, s.max_p_effective, s.cut_at_least,
                    s.cut_at_most);
}

void add_totals(const part_folder& folder, joined_parts& out) {
  pair_summary& s = out.summary;
  const keep_kind keep = out.command.keep;
  index_t next_row = 0;
  for (const part_manifest& m : out.parts) {
    if (decided(m) != decided(out.parts.front())) {
      refuse_parts(folder,
                   fmt::format("{} was computed of other rows, or decided by another cut, than {}",
                               text_of({m.step, m.number, m.of}), text_of({0, 1, m.of})));
    }
    if (m.summary.part_begin != next_row) {
      refuse_parts(folder,
                   fmt::format("{} has {}, expected it to begin with {}",
                               text_of({m.step, m.number, m.of}), panel_text(m), next_row + 1));
    }
    next_row = m.summary.part_end;
    s.pairs_tested += m.summary.pairs_tested;
    s.pairs_kept += m.summary.pairs_kept;
    s.pairs_by_t += m.summary.pairs_by_t;
    s.checksum += m.summary.checksum;
    // Nothing where a part has none.
    if (!m.edge_sum) out.edge_sum.reset();
    if (out.edge_sum) *out.edge_sum += *m.edge_sum;
    out.seconds += m.seconds;
    for (const part_file& file : m.files) out.bytes += file.digest.bytes;
  }
  if (next_row != s.rows) {
    refuse_parts(folder, fmt::format("the parts end at row {} of {}", next_row, s.rows));
  }
  const bool has_pairs = keep == keep_kind::edges || keep == keep_kind::top_k;
  if (has_pairs && s.checksum.count != s.pairs_kept) {
    refuse_parts(folder, fmt::format("the checksum is of {} pairs, expected the {} that are kept",
                                     s.checksum.count, s.pairs_kept));
  }
  if (s.pairs_tested != out.family) {
    refuse_parts(folder, fmt::format("the parts tested {} pairs, expected the {} of the whole job",
                                     s.pairs_tested, out.family));
  }
}

}  // namespace

void refuse_parts(const part_folder& folder, const std::string& what) {
  throw parts_error(folder.path() + ": " + what);
}

const part_status& part_listing::status(index_t number) const {
  static const part_status none;
  const auto found = parts.find(number);
  return found == parts.end() ? none : found->second;
}

index_t part_listing::done() const {
  return std::count_if(parts.begin(), parts.end(),
                       [](const auto& part) { return part.second.state == part_state::done; });
}

/// A name may say any number of parts: what there is of them takes the time and the memory.
std::vector<part_listing::range> part_listing::wanting() const {
  std::vector<range> out;
  index_t next = 1;  // behind the last one that is done
  for (const auto& [number, part] : parts) {
    if (part.state != part_state::done) continue;
    if (next < number) out.emplace_back(next, number - 1);
    next = number + 1;
  }
  if (next <= of) out.emplace_back(next, of);
  return out;
}

part_listing list_parts(const part_folder& folder, part_check how) {
  const part_folder::contents listed = folder.list();
  if (listed.of == 0) refuse_parts(folder, "holds no part");
  part_listing out;
  out.of = listed.of;
  out.unfinished = listed.unfinished;
  const auto any = folder.any_manifest(listed);
  if (any) {
    out.job = any->job;
    out.step = step_of(folder, any->job, listed.of).step;
  }
  const auto there = listed.numbers.find(out.step);
  if (there == listed.numbers.end()) return out;
  for (const index_t number : there->second) {
    out.parts[number] = folder.check({out.step, number, out.of}, how);
  }
  const part_manifest* first = nullptr;
  for (const auto& [number, part] : out.parts) {
    if (!part.manifest) continue;
    if (first == nullptr) first = &*part.manifest;
    check_one_job(folder, *part.manifest, *first);
  }
  return out;
}

std::string compact_list(const std::vector<part_listing::range>& numbers) {
  std::string out;
  for (const auto& [first, last] : numbers) {
    out += fmt::format("{}{}", out.empty() ? "" : ",", first);
    if (last > first) out += fmt::format("-{}", last);
  }
  return out;
}

joined_parts check_parts(const part_folder& folder) {
  part_listing listing = list_parts(folder, part_check::sizes);
  for (const auto& [number, part] : listing.parts) {
    if (part.state != part_state::damaged) continue;
    refuse_parts(folder, fmt::format("part {} of {} is damaged: {}. Run that part again", number,
                                     listing.of, part.reason));
  }
  const std::vector<part_listing::range> missing = listing.wanting();
  if (!missing.empty()) {
    refuse_parts(folder,
                 fmt::format("{}{} of {} parts are missing: {}",
                             listing.step > 0 ? "the cut of --adjust bh is not fixed yet, " : "",
                             listing.of - listing.done(), listing.of, compact_list(missing)));
  }
  if (listing.step > 0) {
    refuse_parts(folder, "the cut of --adjust bh is not fixed yet: run the parts again");
  }
  joined_parts out;
  for (auto& [number, part] : listing.parts) out.parts.push_back(std::move(*part.manifest));
  const part_manifest& first = out.parts.front();
  out.job = first.job;
  try {
    out.command = job_of(out.job);
  } catch (const parts_error& e) {
    refuse_parts(folder, e.what());
  }
  out.family = first.family;
  out.summary = first.summary;
  out.summary.constant_rows.resize(first.without.constant_rows);
  out.summary.nan_rows.resize(first.without.nan_rows);
  out.summary.infinite_rows.resize(first.without.infinite_rows);
  out.summary.y_constant_rows.resize(first.without.y_constant_rows);
  out.summary.y_nan_rows.resize(first.without.y_nan_rows);
  out.summary.y_infinite_rows.resize(first.without.y_infinite_rows);
  out.summary.part_begin = 0;
  out.summary.part_end = first.summary.rows;
  if (out.parts.size() > 1) out.summary.patterns = 0;  // each part folds rows of its own
  out.summary.pairs_tested = 0;
  out.summary.pairs_kept = 0;
  out.summary.pairs_by_t = 0;
  out.summary.checksum = {};
  out.edge_sum = 0;
  add_totals(folder, out);
  return out;
}

run_report report_of(const joined_parts& joined) {
  run_report report;
  report.input = {"parts", joined.job.input};
  if (joined.job.against) report.against = report_input{"parts", joined.job.against};
  const pair_summary& s = joined.summary;
  const part_manifest& first = joined.parts.front();
  report.input.add(first.reading, s.rows, s.cols);
  if (report.against) report.against->add(first.y_reading, s.y_rows, s.cols);
  report.summary = s;
  report.edge_sum = joined.edge_sum;
  report.is_table_read = true;
  report.has_p = joined.summary.observations > 0;
  report.is_of_differences = joined.command.is_differential();
  return report;
}

run_report report_of_run(const joined_parts& joined, const pairs_command& job,
                         double total_seconds) {
  run_report report = report_of(joined);
  report.input.name = job.input;
  if (report.against) report.against->name = job.against;
  report.command_line = job.command_line;
  report.total_seconds = total_seconds;
  return report;
}

std::string to_text(const joined_parts& joined) {
  const run_report report = report_of(joined);
  const pair_summary& s = joined.summary;
  const std::string shape = s.y_rows > 0 ? fmt::format("{} rows against {} rows", s.rows, s.y_rows)
                                         : fmt::format("{} rows", s.rows);
  return fmt::format(
      "{} x {} columns, {} pairs tested, {} kept\n{}{}\n{} parts, {:.3f} s in all\n"
      "checksum {}\n",
      shape, s.cols, s.pairs_tested, s.pairs_kept, names_text(report), cuts_text(report),
      joined.parts.size(), joined.seconds, gpu::to_string(s.checksum));
}

}  // namespace gpu::cli
