// Options of rank, top-k, mean-filter, differential and soft-threshold, and where everything runs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/parsed.hpp"
#include "cli/options/option_groups.hpp"

namespace gpu::cli {
namespace {

/// More is taken for a typing error. The library caps what a machine gains nothing from.
int most_asked_threads() {
  constexpr int always = 1024;
  return std::max(always, detail::most_threads());
}

/// The words that the library has for the values up to `last`.
template <class Value>
words<Value> named_up_to(Value last) {
  words<Value> out;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    out.emplace_back(to_string(static_cast<Value>(i)), static_cast<Value>(i));
  }
  return out;
}

void add_results(verb& v, job_files& files, bool has_arrays = true) {
  add_output(v, files, has_arrays);
  add_report(v, files, "Also write input, shape and times as JSON");
  add_size_limit(v, files);
}

void add_quiet(verb& v, job_files& files) {
  v.heading = "Execution";
  v.add_option("-q,--quiet", files.quiet, "No progress and no summary");
}

}  // namespace

void add_missing_values(verb& v, pair_options& pairs) {
  v.heading = "Input";
  add_choice(v, "--nan", pairs.nans,
             words_for({nan_policy::reject, nan_policy::propagate, nan_policy::pairwise}),
             "reject: stop at a missing value. propagate: drop its row. pairwise: for "
             "each pair, use the columns where both rows have a value [reject]")
      ->of_result();
  v.add_number("--min-observations", pairs.min_observations, "N", {.least = 3},
               "For --nan pairwise: columns that the rows of a pair share at least [3]")
      ->of_result();
}

void add_backend(verb& v, execution& exec) {
  v.heading = "Execution";
  add_choice(v, "--backend", exec.target, "Where to compute [auto]");
  v.add_option("--devices", exec.devices, "CUDA devices to share the work [the first]")
      ->type_name("N,...");
  const auto most = static_cast<double>(most_asked_threads());
  v.add_number("--threads", exec.cpu_threads, "N", {.least = 1, .most = most}, "CPU threads [all]");
  add_bytes(v, "--memory-limit", exec.workspace_bytes,
            "Bound of scratch memory; K, M, G, T allowed [chosen by the backend]");
}

void add_mean_filter(verb& v, mean_filter_command& c) {
  add_input(v, c);
  v.heading = "Filter";
  v.add_number("-w,--window", c.filter.window, "W", {.least = 1}, "Elements of a window")
      ->required();
  v.add_option("--origin", c.filter.origin, "Shift of the windows, as SciPy's [0]")->type_name("N");
  add_choice(v, "--boundary", c.filter.boundary, named_up_to(boundary::valid),
             "Values beyond the ends of a row [reflect]");
  add_choice(v, "--nan", c.filter.nans, words_for({nan_policy::propagate, nan_policy::omit}),
             "What a NaN does: make the means over it NaN, or count as absent [propagate]");
  add_results(v, c);
  add_backend(v, c.filter.exec);
  v.heading = "Execution";
  add_choice(v, "--variant", c.filter.variant, named_up_to(mean_filter_variant::multi_level),
             "Implementation of the filter [automatic]");
  add_quiet(v, c);
}

void add_rank(verb& v, rank_command& c) {
  add_input(v, c);
  v.heading = "Ranks";
  add_choice<tie_method>(v, "--ties", c.rank.ties,
                         {{"average", tie_method::average},
                          {"min", tie_method::min},
                          {"max", tie_method::max},
                          {"dense", tie_method::dense},
                          {"ordinal", tie_method::ordinal}},
                         "Rank of equal values, as scipy.stats.rankdata's [average]");
  add_choice<rank_order>(
      v, "--order", c.rank.order,
      {{"ascending", rank_order::ascending}, {"descending", rank_order::descending}},
      "Whether the smallest or the largest value has rank 1 [ascending]");
  v.heading = "Input";
  add_choice(v, "--nan", c.rank.nans, words_for({nan_policy::reject, nan_policy::propagate}),
             "What a NaN does: end the run, or make all ranks of its row NaN [reject]");
  add_results(v, c);
  add_backend(v, c.rank.exec);
  v.heading = "Execution";
  add_choice(v, "--variant", c.rank.variant, named_up_to(rank_variant::sort),
             "Implementation of the ranks [automatic]");
  add_quiet(v, c);
}

void add_top_k(verb& v, top_k_command& c) {
  add_input(v, c);
  v.heading = "Selection";
  v.add_number("-k", c.k, "K", {.least = 1}, "Entries of each row [10]");
  option* const largest = v.add(
      "--largest", [&c] { c.top.select = top_k_select::largest; }, "The largest values [default]");
  option* const smallest =
      v.add("--smallest", [&c] { c.top.select = top_k_select::smallest; }, "The smallest values");
  largest->excludes(smallest);
  v.add_option("--distinct", c.is_distinct, "Each value once, with the number of its occurrences");
  add_results(v, c);
  add_backend(v, c.top.exec);
  v.heading = "Execution";
  add_choice(v, "--variant", c.top.variant, named_up_to(top_k_variant::warp_rows),
             "Implementation of the selection [automatic]");
  add_quiet(v, c);
}

void add_differential(verb& v, pairs_command& c) {
  add_input(v, c);
  v.heading = "Input";
  v.add_option("--groups", c.groups,
               "The group of each column of numbers: labels with commas between them, or a file "
               "with a line for each column, its label or its name and label; two labels, and - "
               "for columns in neither. The first one that is there is the first group")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("got an empty text, expected labels or a file") : "";
      })
      ->required()
      ->type_name("FILE|LIST");
  add_choice(v, "--nan", c.pairs.nans, words_for({nan_policy::reject, nan_policy::propagate}),
             "reject: stop at a missing value. propagate: drop its row [reject]")
      ->of_result();
  words<measure> measures;
  for (const measure each : all_measures()) {
    if (info_of(each).z_variance > 0) measures.emplace_back(to_string(each), each);
  }
  v.heading = "Which pairs";
  add_choice(v, "--measure", c.what, measures, "Which correlation [pearson]");
  v.add_number("--max-p", c.filter.max_p, "P", {.most = 1, .is_above = true},
               "Keep pairs with p <= P, after --adjust [1]")
      ->of_result();
  v.add_number("--min-abs-z", c.filter.min_abs, "Z", {},
               "Keep pairs with |z| >= Z; with --tail greater z, with less -z [0]")
      ->of_result();
  add_choice(
      v, "--tail", c.filter.side,
      "Alternative hypothesis: greater is a larger correlation in the first group [two-sided]")
      ->of_result();
  add_choice(v, "--adjust", c.filter.adjust,
             "Multiple-testing correction of --max-p: bonferroni (bonf) or bh (false discovery "
             "rate, fdr). Adds a column q with the adjusted p (not with bh and --min-abs-z or "
             "--keep top-k) [none]",
             {{"bonf", "bonferroni"}, {"fdr", "bh"}})
      ->of_result();
  v.heading = "Result";
  add_choice(v, "--keep", c.keep,
             words_for({keep_kind::edges, keep_kind::top_k, keep_kind::counts}),
             "What to keep of the pairs: each, the partners of the largest |z| of each "
             "row (of one tail z or -z), or how many each row has [edges]")
      ->of_result();
  v.add_number("-k", c.k, "K", {.least = 1}, "Partners of each row for --keep top-k [10]")
      ->of_result();
  add_results(v, c, false);
  add_backend(v, c.pairs.exec);
  add_quiet(v, c);
  add_parts(v, c, "How many parts, for --resume [chosen]");
}

namespace {

/// "1-4,6,0.5" as 1, 2, 3, 4, 6 and 0.5; nothing if it is not such a list.
std::optional<std::vector<double>> powers_of(std::string_view list) {
  const auto number = [](std::string_view text) {
    const double value = gpu::detail::parsed<double>(text).value_or(0);
    return value > 0 && value <= 100 ? value : 0;
  };
  std::vector<double> out;
  for (;;) {
    const std::string_view word = list.substr(0, list.find(','));
    const std::size_t dash = word.find('-');
    const double first = number(word.substr(0, dash));
    const double last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
    if (first == 0 || last < first) return {};
    for (double power = first; power <= last; ++power) out.push_back(power);
    constexpr std::size_t most = 64;
    if (out.size() > most) return {};
    if (word.size() == list.size()) return out;
    list.remove_prefix(word.size() + 1);
  }
}

}  // namespace

void add_modules(verb& v, modules_command& c) {
  v.add_file("EDGES", c.input,
             "Table of edges as this command writes it, with the columns name_i and name_j: "
             "text, also compressed by gzip or zstd; - for standard input",
             "")
      ->required();
  v.add_number("--min-abs", c.min_abs, "R", {},
               "Join rows only by edges with |statistic| >= R: the clusters of single linkage at R "
               "[0]");
  v.add_file("-o,--output", c.output, "Result file, .tsv or .csv, - standard output [-]");
  v.add_option("--no-clobber", c.no_clobber, "End rather than replace a file that is there");
  add_bytes(v, "--max-input", c.max_input_bytes,
            "Refuse compressed input that unpacks to more bytes; K, M, G, T allowed [32G]");
  v.add_option("-q,--quiet", c.quiet, "No summary");
}

void add_soft_threshold(verb& v, soft_threshold_command& c) {
  add_input(v, c);
  add_missing_values(v, c.pairs);
  v.heading = "Network";
  add_choice(v, "--measure", c.what, measure_words(), "What is computed of two rows [pearson]");
  add_choice<network_kind>(v, "--network", c.network.network,
                           {{"unsigned", network_kind::unsigned_network},
                            {"signed", network_kind::signed_network},
                            {"signed-hybrid", network_kind::signed_hybrid}},
                           "Adjacency of two rows with the statistic r: a power of |r|, of "
                           "(1 + r) / 2, or of r if it is above 0 [unsigned]",
                           {{"signed hybrid", "signed-hybrid"}});
  const auto take_powers = [&c](const std::string& list) -> std::string {
    auto powers = powers_of(list);
    if (!powers) {
      return "got " + list +
             ", expected numbers above 0 and up to 100 with commas between them, 1-10 for 1 to "
             "10, at most 64 in all";
    }
    c.network.powers = std::move(*powers);
    return "";
  };
  v.add("--powers", take_powers, "The powers, as 1-10,12,14 [1-10,12,14,16,18,20]")
      ->type_name("LIST");
  v.heading = "Result";
  add_choice<soft_result>(
      v, "--keep", c.keep, {{"fit", soft_result::fit}, {"connectivity", soft_result::connectivity}},
      "The scale-free fit of each power, or the connectivity of each row at each power [fit]");
  v.add_number("--bins", c.fit.bins, "N", {.least = 3, .most = 10000},
               "For --keep fit: bins of the connectivity [10]");
  v.add_number("--min-r-squared", c.fit.r_squared_cut, "R2", {.least = -1, .most = 1},
               "For --keep fit: the fit that the power in the summary is to exceed [0.85]");
  add_results(v, c);
  add_backend(v, c.pairs.exec);
  add_quiet(v, c);
}

std::string check_soft_threshold(const verb& v, const soft_threshold_command& c) {
  return v.broken({
      {c.pairs.nans != nan_policy::pairwise, "--min-observations", "needs --nan pairwise"},
      {c.keep != soft_result::fit, "--bins --min-r-squared", "needs --keep fit"},
  });
}

}  // namespace gpu::cli
