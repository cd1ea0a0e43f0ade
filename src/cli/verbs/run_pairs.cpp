// gpu-similarity spearman and pearson: from the command line to the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpu/max_t.hpp>

#include "cli/options/options.hpp"
#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/outputs/reported_run.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/table_notes.hpp"

namespace gpu::cli {
namespace {

constexpr index_t bins = 65'536;
constexpr std::size_t most_strengths = std::size_t{1} << 21;  // different ones, held at once

/// Where the strength of the last pair lies: lo <= it < hi.
struct enclosure {
  double lo = 0;
  double hi = 2;

  [[nodiscard]] double edge(index_t bin) const {
    return lo + (hi - lo) * static_cast<double>(bin) / static_cast<double>(bins);
  }
  [[nodiscard]] index_t bin_of(double strength) const {
    const double bin = (strength - lo) / (hi - lo) * static_cast<double>(bins);
    return std::clamp(static_cast<index_t>(bin), index_t{0}, bins - 1);
  }
  /// The part with the bin in which the `wanted`-th strongest lies, of `counts` in bins; a bin more
  /// on each side, for the rounding of edges.
  [[nodiscard]] enclosure narrowed(const std::vector<std::uint64_t>& counts,
                                   std::uint64_t wanted) const {
    index_t bin = bins;
    for (std::uint64_t sum = 0; bin > 0 && sum < wanted;) {
      sum += counts[static_cast<std::size_t>(--bin)];
    }
    return {std::max(edge(bin - 1), 0.0), edge(bin + 2)};
  }
};

class fraction_search {
 public:
  fraction_search(const pairs_command& job, const input_tables& tables, progress_line& line)
      : job_(job), tables_(tables), options_(job.pairs) {
    options_.exec.on_progress = shown_on(&line, "pairs counted");
  }

  double find() {
    enclosure range = count_all();
    for (;;) {
      if (const auto cut = look(range)) return *cut;
    }
  }

 private:
  /// How strong a pair is: as --tail and --min-abs have it.
  [[nodiscard]] double strength(double statistic) const {
    switch (job_.filter.side) {
      case tail::greater:
        return statistic;
      case tail::less:
        return -statistic;
      case tail::two_sided:
        break;
    }
    return std::abs(statistic);
  }

  enclosure count_all() {
    const pair_counts counted =
        all_pairs(job_, tables_, options_,
                  count_sink{.keep = {.side = job_.filter.side}, .histogram_bins = bins});
    const auto tested = static_cast<double>(counted.summary.pairs_tested);
    // Rounding may add a little to a whole number of pairs, which must not ask for one more.
    constexpr double rounding = 1e-12;
    wanted_ = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(job_.keep_fraction * tested * (1 - rounding))));
    tested_ = counted.summary.pairs_tested;
    std::vector<std::uint64_t> by_strength(static_cast<std::size_t>(bins));
    const enclosure all{-1, 1};
    for (std::size_t bin = 0; bin < by_strength.size(); ++bin) {
      // Far enough from the edges of the bin that a bin is found again.
      const double middle =
          (all.edge(static_cast<index_t>(bin)) + all.edge(static_cast<index_t>(bin) + 1)) / 2;
      by_strength[static_cast<std::size_t>(all.bin_of(strength(middle)))] += counted.histogram[bin];
    }
    return all.narrowed(by_strength, wanted_);
  }

  /// The cut, or nothing where `range` has too many strengths and was narrowed.
  std::optional<double> look(enclosure& range) {
    std::map<double, std::uint64_t> counts;
    std::vector<std::uint64_t> binned(static_cast<std::size_t>(bins));
    std::uint64_t above = 0;
    bool is_full = false;
    const auto take = [&](std::span<const edge> pairs) {
      for (const edge& e : pairs) {
        const double s = strength(e.statistic);
        if (s >= range.hi) {
          ++above;
          continue;
        }
        if (s < range.lo || (s == 0 && job_.filter.side != tail::two_sided)) continue;
        ++binned[static_cast<std::size_t>(range.bin_of(s))];
        if (is_full) continue;
        ++counts[s];
        is_full = counts.size() > most_strengths;
      }
    };
    static_cast<void>(all_pairs(job_, tables_, options_,
                                stream_sink{.keep = {.min_abs = range.lo, .side = job_.filter.side},
                                            .consume = take,
                                            .order = edge_order::unspecified,
                                            .batch_edges = batch_edges_of(options_)}));
    if (is_full) {
      range = range.narrowed(binned, wanted_ - std::min(wanted_, above));
      return std::nullopt;
    }
    std::uint64_t kept = above;
    for (auto at = counts.rbegin(); at != counts.rend(); ++at) {
      kept += at->second;
      if (kept >= wanted_) return at->first;
    }
    throw usage_error(
        fmt::format("--keep-fraction: got {}, but only {} of {} pairs have the sign of --tail, "
                    "expected a smaller "
                    "share",
                    job_.keep_fraction, kept, tested_));
  }

  const pairs_command& job_;
  const input_tables& tables_;
  pair_options options_;
  std::uint64_t tested_ = 0;
  std::uint64_t wanted_ = 0;  // pairs
};

/// The greatest `min_abs` that keeps at least job.keep_fraction of the tested pairs: the strength
/// of the last of them, so that pairs which are as strong as it are kept too. A pass counts all
/// pairs in bins of the statistic, and a second one looks at those above the bin with the last
/// pair, again where that bin has millions of different statistics.
/// @throw usage_error where a one-sided tail has fewer pairs of its sign; cancelled
double cut_of_fraction(const pairs_command& job, const input_tables& tables, progress_line& line) {
  return fraction_search(job, tables, line).find();
}

/// The largest statistics of the shuffled tables; nothing of a job without --adjust max-t.
/// @throw what the library throws
std::optional<max_t_null> find_maxima(const pairs_command& job, const input_tables& tables,
                                      progress_line& line) {
  if (job.correct != correction::max_t) return std::nullopt;
  pair_options options = job.pairs;
  options.exec.on_progress = shown_on(&line, "permutations");
  return detail::max_t(job.what, tables_of(tables), options, job.max_t);
}

/// `job` with its --max-p as the cut on the statistic that the maxima say.
pairs_command with_cut(const pairs_command& job, const max_t_null& null) {
  pairs_command out = job;
  const pair_filter cut = null.keep(job.filter.max_p);
  out.filter.max_p = 1;
  out.filter.min_abs = std::max(cut.min_abs, job.filter.min_abs);
  return out;
}

// Of few columns p cannot be small.
void note_few_columns(const pairs_command& job, const pair_summary& summary) {
  const std::string text = few_columns_text(summary);
  const bool is_cut_by_p = job.filter.max_p < 1 && job.correct != correction::max_t;
  if (!job.quiet && is_cut_by_p && !text.empty()) note(job.input, {text});
}

// Equal rows of doubles miss 1 by the rounding of their lengths, some of them.
void note_rounded_ones(const pairs_command& job) {
  constexpr double keeps_all = 0.999999999999;
  const bool is_exact = info_of(job.what).scale == value_scale::ordinal && !job.has_column_tables();
  if (job.quiet || is_exact || job.fingerprints || job.filter.min_abs <= keeps_all) return;
  note("--min-abs",
       {"equal rows may have a statistic just below 1, as 0.9999999999999999: --min-abs "
        "0.999999999999 keeps all of them"});
}

/// What is known before the tables are read.
run_report first_report(const pairs_command& job) {
  const auto name = [](const std::string& path) { return path == "-" ? "standard input" : path; };
  run_report out{.input = {.name = name(job.input)}, .command_line = job.command_line};
  if (!job.against.empty()) out.against = report_input{.name = name(job.against)};
  return out;
}

void describe(const input_tables& tables, run_report& report) {
  report.summary.rows = tables.rows();
  report.summary.cols = tables.cols();
  report.summary.y_rows = tables.y ? tables.y->rows() : 0;
  report.is_table_read = true;
  report.input.add(tables.x.reading, tables.x.rows(), tables.cols());
  report.input.digest = tables.x_digest;
  if (!tables.y) return;
  report.against->add(tables.y->reading, tables.y->rows(), tables.cols());
  report.against->digest = tables.y_digest;
}

void run_and_report(const pairs_command& given, run_outputs& outputs,
                    reported_run<run_report>& reported) {
  run_report& report = reported.report;
  progress_line line(given.quiet || outputs.is_on_terminal());
  abandonable_phase phase([&] { reported.abandon(); });
  const input_tables tables = read_input(given, line);
  report.read_seconds = reported.seconds();
  describe(tables, report);
  const std::optional<max_t_null> null = find_maxima(given, tables, line);
  if (null) report.permutations = {given.max_t, null->seconds};
  pairs_command job = null ? with_cut(given, *null) : given;
  if (job.keep_fraction > 0) job.filter.min_abs = cut_of_fraction(job, tables, line);
  const io::result_context context = result_context_of(job, tables);
  report.has_p = context.info().test != significance::none;
  check_output_size(job, tables, context);
  pairs_run(job, tables, outputs, line, phase, null ? &*null : nullptr).run(report);
  line.clear();
  reported.complete();
  note_missing_q(given);
  note_few_columns(given, report.summary);
  note_rounded_ones(given);
  if (!given.quiet) say(to_text(report));
}

}  // namespace

void run_pairs(const pairs_command& job) {
  check_execution(job.pairs.exec);
  run_outputs outputs(job);
  reported_run reported(outputs, first_report(job));
  reported.run([&] { run_and_report(job, outputs, reported); });
}

}  // namespace gpu::cli
