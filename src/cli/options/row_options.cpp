// Options of rank, top-k, mean-filter, differential and soft-threshold, and where everything runs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "cli/options/option_groups.hpp"
#include "cli/options/part_options.hpp"

namespace gpu::cli {
namespace {

/// More is taken for a typing error. The library caps what a machine gains nothing from.
int most_asked_threads() {
  constexpr int always = 1024;
  return std::max(always, detail::most_threads());
}

void add_results(CLI::App& app, row_files& files) {
  add_output(app, files);
  add_report(app, files, "Also write input, shape and times as JSON");
  add_size_limit(app, files);
}

void add_quiet(CLI::App& app, row_files& files) {
  app.add_flag("-q,--quiet", files.quiet, "No progress and no summary")->group("Execution");
}

}  // namespace

void add_missing_values(CLI::App& app, pair_options& pairs) {
  add_choice<nan_policy>(app, "--nan", pairs.nans,
                         {{"reject", nan_policy::reject},
                          {"propagate", nan_policy::propagate},
                          {"pairwise", nan_policy::pairwise}},
                         "What a missing value does: end the run, leave its row out, or leave its "
                         "column out of the pairs of its row [reject]")
      ->group("Input");
  app.add_option("--min-observations", pairs.min_observations,
                 "For --nan pairwise: columns that the rows of a pair share at least [3]")
      ->type_name("N")
      ->check(number_in("a whole number from 3", [](double n) { return n >= 3; }))
      ->group("Input");
}

void add_backend(CLI::App& app, execution& exec) {
  add_choice<backend>(
      app, "--backend", exec.target,
      {{"auto", backend::automatic}, {"cpu", backend::cpu}, {"cuda", backend::cuda}},
      "Where to compute [auto]")
      ->group("Execution");
  app.add_option("--devices", exec.devices, "CUDA devices to share the work [the first]")
      ->type_name("N,...")
      ->delimiter(',')
      ->group("Execution");
  app.add_option("--threads", exec.cpu_threads, "CPU threads [all]")
      ->type_name("N")
      ->check(number_in(fmt::format("a whole number from 1 to {}", most_asked_threads()),
                        [](double n) { return n >= 1 && n <= most_asked_threads(); }))
      ->group("Execution");
  add_bytes(app, "--memory-limit", exec.workspace_bytes,
            "Bound of scratch memory; K, M, G, T allowed [chosen by the backend]")
      ->group("Execution");
}

void add_mean_filter(CLI::App& app, mean_filter_command& c) {
  add_input(app, c);
  app.add_option("-w,--window", c.filter.window, "Elements of a window")
      ->required()
      ->type_name("W")
      ->check(number_in("a whole number from 1", [](double w) { return w >= 1; }))
      ->group("Filter");
  app.add_option("--origin", c.filter.origin, "Shift of the windows, as SciPy's [0]")
      ->type_name("N")
      ->group("Filter");
  add_choice<boundary>(app, "--boundary", c.filter.boundary,
                       {{"zero", boundary::zero},
                        {"reflect", boundary::reflect},
                        {"nearest", boundary::nearest},
                        {"mirror", boundary::mirror},
                        {"wrap", boundary::wrap},
                        {"shrink", boundary::shrink},
                        {"valid", boundary::valid}},
                       "What stands beyond the ends of a row [reflect]")
      ->group("Filter");
  add_choice<nan_policy>(
      app, "--nan", c.filter.nans,
      {{"propagate", nan_policy::propagate}, {"omit", nan_policy::omit}},
      "What a NaN does: make the means over it NaN, or count as absent [propagate]")
      ->group("Filter");
  add_results(app, c);
  add_backend(app, c.filter.exec);
  add_choice<mean_filter_variant>(app, "--variant", c.filter.variant,
                                  {{"automatic", mean_filter_variant::automatic},
                                   {"direct", mean_filter_variant::direct},
                                   {"constant_memory", mean_filter_variant::constant_memory},
                                   {"shared_memory", mean_filter_variant::shared_memory},
                                   {"register_window", mean_filter_variant::register_window},
                                   {"block_sums", mean_filter_variant::block_sums},
                                   {"multi_level", mean_filter_variant::multi_level}},
                                  "Implementation of the filter [automatic]")
      ->group("Execution");
  add_quiet(app, c);
}

void add_rank(CLI::App& app, rank_command& c) {
  add_input(app, c);
  add_choice<tie_method>(app, "--ties", c.rank.ties,
                         {{"average", tie_method::average},
                          {"min", tie_method::min},
                          {"max", tie_method::max},
                          {"dense", tie_method::dense},
                          {"ordinal", tie_method::ordinal}},
                         "Rank of equal values, as scipy.stats.rankdata's [average]")
      ->group("Ranks");
  add_choice<rank_order>(
      app, "--order", c.rank.order,
      {{"ascending", rank_order::ascending}, {"descending", rank_order::descending}},
      "Whether the smallest or the largest value has rank 1 [ascending]")
      ->group("Ranks");
  add_choice<nan_policy>(app, "--nan", c.rank.nans,
                         {{"reject", nan_policy::reject}, {"propagate", nan_policy::propagate}},
                         "What a NaN does: end the run, or make all ranks of its row NaN [reject]")
      ->group("Input");
  add_results(app, c);
  add_backend(app, c.rank.exec);
  add_choice<rank_variant>(app, "--variant", c.rank.variant,
                           {{"automatic", rank_variant::automatic},
                            {"counting", rank_variant::counting},
                            {"block_sort", rank_variant::block_sort},
                            {"segmented_sort", rank_variant::segmented_sort},
                            {"sort", rank_variant::sort}},
                           "Implementation of the ranks [automatic]")
      ->group("Execution");
  add_quiet(app, c);
}

void add_top_k(CLI::App& app, top_k_command& c) {
  add_input(app, c);
  app.add_option("-k", c.k, "Entries of each row [10]")
      ->type_name("K")
      ->check(number_in("a whole number from 1", [](double k) { return k >= 1; }))
      ->group("Selection");
  CLI::Option* const largest = app.add_flag_callback(
      "--largest", [&c] { c.top.select = top_k_select::largest; }, "The largest values [default]");
  CLI::Option* const smallest = app.add_flag_callback(
      "--smallest", [&c] { c.top.select = top_k_select::smallest; }, "The smallest values");
  largest->group("Selection")->excludes(smallest);
  smallest->group("Selection");
  app.add_flag("--distinct", c.is_distinct, "Each value once, with the number of its occurrences")
      ->group("Selection");
  add_results(app, c);
  add_backend(app, c.top.exec);
  add_choice<top_k_variant>(app, "--variant", c.top.variant,
                            {{"automatic", top_k_variant::automatic},
                             {"threshold", top_k_variant::threshold},
                             {"radix_select", top_k_variant::radix_select},
                             {"sort", top_k_variant::sort},
                             {"two_pass_insert", top_k_variant::two_pass_insert},
                             {"block_rows", top_k_variant::block_rows},
                             {"warp_rows", top_k_variant::warp_rows}},
                            "Implementation of the selection [automatic]")
      ->group("Execution");
  add_quiet(app, c);
}

void add_differential(CLI::App& app, differential_command& c) {
  add_input(app, c);
  app.add_option("--groups", c.groups,
                 "The group of each column of numbers: labels with commas between them, or a file "
                 "with a line for each column, its label or its name and label; two labels, and - "
                 "for columns in neither. The first one that is there is the first group")
      ->required()
      ->type_name("FILE|LIST")
      ->group("Input");
  add_choice<nan_policy>(app, "--nan", c.pairs.nans,
                         {{"reject", nan_policy::reject}, {"propagate", nan_policy::propagate}},
                         "What a missing value does: end the run, or leave its row out [reject]")
      ->group("Input");
  names_of<measure> measures;
  for (const measure each : all_measures()) {
    if (info_of(each).z_variance > 0) measures.emplace(to_string(each), each);
  }
  add_choice(app, "--measure", c.what, measures, "Which correlation [pearson]")
      ->group("Which pairs");
  app.add_option("--max-p", c.filter.max_p, "Keep pairs with p <= P, after --adjust [1]")
      ->type_name("P")
      ->check(number_in("a number above 0, up to 1", [](double p) { return p > 0 && p <= 1; }))
      ->group("Which pairs");
  app.add_option("--min-abs-z", c.filter.min_abs_z,
                 "Keep pairs with |z| >= Z; with --tail greater z, with less -z [0]")
      ->type_name("Z")
      ->check(number_in("a number from 0", [](double z) { return z >= 0; }))
      ->group("Which pairs");
  add_choice<tail>(
      app, "--tail", c.filter.side,
      {{"two-sided", tail::two_sided}, {"greater", tail::greater}, {"less", tail::less}},
      "Alternative hypothesis: greater is a larger correlation in the first group [two-sided]")
      ->group("Which pairs");
  add_choice<adjustment>(
      app, "--adjust", c.filter.adjust,
      {{"none", adjustment::none},
       {"bonferroni", adjustment::bonferroni},
       {"bh", adjustment::benjamini_hochberg}},
      {{"bonf", "bonferroni"}, {"fdr", "bh"}},
      "Correction of --max-p for the number of pairs, bonferroni or bonf, bh or fdr; adds the "
      "column q (with bh not beside --min-abs-z and --keep top-k) [none]")
      ->group("Which pairs");
  add_choice<keep_kind>(
      app, "--keep", c.keep,
      {{"edges", keep_kind::edges}, {"top-k", keep_kind::top_k}, {"counts", keep_kind::counts}},
      "What to keep of the pairs: each, the partners of the largest |z| of each "
      "row (of one tail z or -z), or how many each row has [edges]")
      ->group("Result");
  app.add_option("-k", c.k, "Partners of each row for --keep top-k [10]")
      ->type_name("K")
      ->check(number_in("a whole number from 1", [](double k) { return k >= 1; }))
      ->group("Result");
  add_results(app, c);
  add_backend(app, c.pairs.exec);
  add_quiet(app, c);
  add_parts(app, c);
}

namespace {

/// "1-4,6,0.5" as 1, 2, 3, 4, 6 and 0.5.
std::vector<double> powers_of(const std::string& list) {
  const auto wrong = [&list] {
    return CLI::ValidationError("--powers",
                                "got " + list +
                                    ", expected numbers above 0 and up to 100 with commas between "
                                    "them, 1-10 for 1 to 10, at most 64 in all");
  };
  const auto number = [&](std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, status] = std::from_chars(text.data(), end, value);
    if (status != std::errc{} || stopped != end || !(value > 0 && value <= 100)) throw wrong();
    return value;
  };
  std::vector<double> out;
  std::string_view rest = list;
  for (;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::size_t dash = word.find('-');
    const double first = number(word.substr(0, dash));
    const double last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
    constexpr std::size_t most = 64;
    if (last < first) throw wrong();
    for (double power = first; power <= last; ++power) out.push_back(power);
    if (out.size() > most) throw wrong();
    if (word.size() == rest.size()) return out;
    rest.remove_prefix(word.size() + 1);
  }
}

}  // namespace

void add_modules(CLI::App& app, modules_command& c) {
  app.add_option(
         "EDGES", c.input,
         "Table of edges as this command writes it, with the columns name_i and name_j: text, "
         "also compressed by gzip or zstd; - for standard input")
      ->required()
      ->check(file_name());
  app.add_option(
         "--min-abs", c.min_abs,
         "Join rows by edges with |statistic| >= R alone: the clusters of single linkage at R "
         "[0]")
      ->type_name("R")
      ->check(number_in("a number from 0", [](double r) { return r >= 0; }));
  app.add_option("-o,--output", c.output, "Result file, .tsv or .csv, - standard output [-]")
      ->type_name("FILE")
      ->check(file_name());
  app.add_flag("--no-clobber", c.no_clobber, "End rather than replace a file that is there");
  add_bytes(app, "--max-input", c.max_input_bytes,
            "Refuse compressed input that unpacks to more bytes; K, M, G, T allowed [32G]");
  app.add_flag("-q,--quiet", c.quiet, "No summary");
}

void add_soft_threshold(CLI::App& app, soft_threshold_command& c) {
  add_input(app, c);
  add_missing_values(app, c.pairs);
  names_of<measure> measures;
  for (const measure each : all_measures()) measures.emplace(to_string(each), each);
  add_choice(app, "--measure", c.what, measures, "What is computed of two rows [pearson]")
      ->group("Network");
  add_choice<network_kind>(app, "--network", c.network.network,
                           {{"unsigned", network_kind::unsigned_network},
                            {"signed", network_kind::signed_network},
                            {"signed-hybrid", network_kind::signed_hybrid}},
                           {{"signed hybrid", "signed-hybrid"}},
                           "Adjacency of two rows with the statistic r: a power of |r|, of "
                           "(1 + r) / 2, or of r where it is above 0 [unsigned]")
      ->group("Network");
  app.add_option_function<std::string>(
         "--powers", [&c](const std::string& list) { c.network.powers = powers_of(list); },
         "The powers, as 1-10,12,14 [1-10,12,14,16,18,20]")
      ->type_name("LIST")
      ->group("Network");
  add_choice<soft_result>(app, "--keep", c.keep,
                          {{"fit", soft_result::fit},
                           {"connectivity", soft_result::connectivity},
                           {"overlap", soft_result::overlap}},
                          "The scale-free fit of each power, the connectivity of each row at each "
                          "power, or the topological overlap of the rows of --module [fit]")
      ->group("Result");
  app.add_option("--bins", c.fit.bins, "For --keep fit: bins of the connectivity [10]")
      ->type_name("N")
      ->check(number_in("a whole number from 3 to 10000",
                        [](double n) { return n >= 3 && n <= 10000; }))
      ->group("Result");
  app.add_option("--min-r-squared", c.fit.r_squared_cut,
                 "For --keep fit: the fit that the power in the summary is to exceed [0.85]")
      ->type_name("R2")
      ->check(number_in("a number from -1 to 1", [](double r) { return r >= -1 && r <= 1; }))
      ->group("Result");
  app.add_option(
         "--module", c.module,
         "For --keep overlap: a file with the names of rows, one a line; it takes one power")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  add_results(app, c);
  add_backend(app, c.pairs.exec);
  add_quiet(app, c);
}

std::string check_soft_threshold(const CLI::App& app, const soft_threshold_command& c) {
  if (c.pairs.nans != nan_policy::pairwise && is_given(app, "--min-observations")) {
    return "--min-observations needs --nan pairwise";
  }
  for (const char* option : {"--bins", "--min-r-squared"}) {
    if (c.keep != soft_result::fit && is_given(app, option)) {
      return fmt::format("{} needs --keep fit", option);
    }
  }
  const bool is_overlap = c.keep == soft_result::overlap;
  if (!is_overlap) return c.module.empty() ? "" : "--module needs --keep overlap";
  if (c.module.empty()) return "--keep overlap needs --module FILE";
  if (c.module == "-") {
    return "--module -: standard input is taken for INPUT alone, expected a file";
  }
  if (c.network.powers.size() == 1) return "";
  return fmt::format("--keep overlap: got {} powers, expected one, as --powers 6",
                     c.network.powers.size());
}

}  // namespace gpu::cli
