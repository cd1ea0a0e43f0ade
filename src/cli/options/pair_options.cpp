#include "cli/options/pair_options.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/options/option_groups.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/part_options.hpp"

namespace gpu::cli {
namespace {

void add_keep_fraction(CLI::App& app, pairs_command& c) {
  app.add_option("--keep-fraction", c.keep_fraction,
                 "Keep the strongest share F of all tested pairs, and those as strong as the last")
      ->type_name("F")
      ->check(number_in("a number above 0 and up to 1", [](double f) { return f > 0 && f <= 1; }))
      ->group("Which pairs");
}

void add_filter(CLI::App& app, pairs_command& c) {
  app.add_option("--max-p", c.filter.max_p, "Keep pairs with p <= P, after --adjust [1]")
      ->type_name("P")
      ->check(number_in("a number above 0 and up to 1", [](double p) { return p > 0 && p <= 1; }))
      ->group("Which pairs");
  app.add_option("--min-abs", c.filter.min_abs,
                 "Keep pairs with |statistic| >= R; with --tail greater statistic >= R, with less "
                 "statistic <= -R; 0 is no cut [0]")
      ->type_name("R")
      ->check(number_in("a number from 0 to 1", [](double r) { return r >= 0 && r <= 1; }))
      ->group("Which pairs");
  add_choice<tail>(
      app, "--tail", c.filter.side,
      {{"two-sided", tail::two_sided}, {"greater", tail::greater}, {"less", tail::less}},
      "Alternative hypothesis of p, and the sign that --min-abs keeps [two-sided]")
      ->group("Which pairs");
  add_keep_fraction(app, c);
  add_choice<correction>(app, "--adjust", c.correct,
                         {{"none", correction::none},
                          {"bonferroni", correction::bonferroni},
                          {"bh", correction::benjamini_hochberg},
                          {"max-t", correction::max_t}},
                         {{"bonf", "bonferroni"}, {"fdr", "bh"}, {"maxt", "max-t"}},
                         "Correction of --max-p for the number of pairs, by their number "
                         "(bonferroni or bonf, bh or fdr) or by permutation (max-t); edges and "
                         "partners get a column q, the adjusted p "
                         "(edges with bh not beside --min-abs) [none]")
      ->group("Which pairs");
  add_choice<column_shuffle>(
      app, "--shuffle", c.max_t.shuffle,
      {{"permutation", column_shuffle::permutation}, {"circular", column_shuffle::circular}},
      "For --adjust max-t: columns in any order, or moved on together, for "
      "time series [permutation]")
      ->group("Which pairs");
  app.add_option("--permutations", c.max_t.permutations,
                 "For --adjust max-t: how often the columns are shuffled; circular: less often "
                 "than there are columns [1000]")
      ->type_name("N")
      ->check(number_in("a whole number from 1 to 1000000",
                        [](double n) { return n >= 1 && n <= 1e6; }))
      ->group("Which pairs");
  app.add_option("--seed", c.max_t.seed, "For --adjust max-t: which shuffles these are [0]")
      ->type_name("S")
      ->check(number_in("a whole number from 0", [](double n) { return n >= 0; }))
      ->group("Which pairs");
}

void add_against(CLI::App& app, pairs_command& c) {
  app.add_option("--against", c.against,
                 "Every row of INPUT with every row of this second table, of as many columns, in "
                 "place of the pairs of rows of INPUT")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Input");
}

void add_match(CLI::App& app, pairs_command& c, const char* description) {
  add_choice<column_match>(app, "--match", c.match,
                           {{"name", column_match::name}, {"position", column_match::position}},
                           description)
      ->group("Input");
}

void add_columns(CLI::App& app, pairs_command& c) {
  app.add_option("--covariates", c.covariates,
                 "Partial correlation given the rows of this table, which is read as INPUT is and "
                 "has its columns of values; spearman and pearson")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Input");
  app.add_option("--weights", c.weights,
                 "How much each column counts: a table of one row or one column of numbers from 0, "
                 "one for each column of INPUT that is read; pearson and cosine")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Input");
  app.add_option_function<double>(
         "--effective-observations", [&c](const double& n) { c.pairs.effective_observations = n; },
         "Sample size used for t, p and confidence intervals; spearman, pearson and bicor [the "
         "columns; with --weights there are no t and p]")
      ->type_name("N")
      ->check(number_in("a number from 3", [](double n) { return n >= 3; }))
      ->group("Input");
}

names_of<keep_kind> kept_of_numbers() {
  return {{"edges", keep_kind::edges},
          {"folded-edges", keep_kind::folded_edges},
          {"top-k", keep_kind::top_k},
          {"counts", keep_kind::counts},
          {"dense", keep_kind::dense}};
}

void add_kept(CLI::App& app, pairs_command& c, const names_of<keep_kind>& kinds) {
  add_choice<keep_kind>(app, "--keep", c.keep, kinds, "What to keep of the pairs [edges]")
      ->group("Result");
  app.add_option("-k", c.k, "Partners of each row for --keep top-k [10]")
      ->type_name("K")
      ->check(number_in("a whole number from 1", [](double k) { return k >= 1; }))
      ->group("Result");
}

void add_digits(CLI::App& app, pairs_command& c) {
  app.add_option(
         "--digits", c.digits,
         "Significant digits of all numbers in text, 1 to 17 [the statistic in full, 6 of the "
         "others]")
      ->type_name("N")
      ->check(number_in("a whole number from 1 to 17", [](double n) { return n >= 1 && n <= 17; }))
      ->group("Result");
}

void add_result(CLI::App& app, pairs_command& c) {
  add_kept(app, c, kept_of_numbers());
  add_choice<neighbor_order>(
      app, "--order", c.order,
      {{"by-absolute-value", neighbor_order::by_absolute_value},
       {"by-value", neighbor_order::by_value}},
      "What is best for --keep top-k: the largest magnitude, or the largest statistic "
      "(with --tail less: the smallest) [by-absolute-value]")
      ->group("Result");
  app.add_flag("--observations", c.writes_n,
               "With --nan pairwise: write the number of columns that the rows of each pair share, "
               "its observations, in a column n")
      ->group("Result");
  app.add_option("--confidence", c.confidence,
                 "Write the confidence interval of each pair's statistic, two-sided at this level, "
                 "in columns lower and upper [none]")
      ->type_name("LEVEL")
      ->check(number_in("a number above 0 and below 1, as 0.95",
                        [](double level) { return level > 0 && level < 1; }))
      ->group("Result");
  add_output(app, c);
  app.add_option("--observations-output", c.observations,
                 "For --keep dense with --nan pairwise: the number of columns that the rows of "
                 "each pair share, as a matrix like that of the statistics")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  app.add_option("--patterns", c.patterns,
                 "For --keep folded-edges: which rows have equal ranks, and so share their edges")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  add_digits(app, c);
  add_report(app, c, "Also write input, cuts, counts and times as JSON");
  add_size_limit(app, c);
}

/// Whether it runs, and what it says meanwhile.
void add_manner(CLI::App& app, pairs_command& c) {
  app.add_flag("--plan", c.plan_only,
               "Tell what would run, how many seconds it would take and how large its result would "
               "be")
      ->group("Execution");
  app.add_flag("-q,--quiet", c.quiet, "No progress and no summary")->group("Execution");
}

void add_execution(CLI::App& app, pairs_command& c) {
  add_choice<p_method>(
      app, "--p-method", c.pairs.p_method,
      {{"auto", p_method::automatic}, {"t", p_method::t}, {"exact", p_method::exact}},
      "Of Spearman: Student's t as SciPy has it (t); permutations where neither row of a pair has "
      "ties (exact); permutations up to 9 columns, else t that is never below what permutations "
      "allow (auto) [auto]")
      ->group("Which pairs");
  add_missing_values(app, c.pairs);
  add_backend(app, c.pairs.exec);
  add_choice<pair_variant>(app, "--variant", c.pairs.variant,
                           {{"automatic", pair_variant::automatic},
                            {"naive", pair_variant::naive},
                            {"tiled", pair_variant::tiled},
                            {"shared_tiled", pair_variant::shared_tiled},
                            {"tensor", pair_variant::tensor},
                            {"hopper", pair_variant::hopper}},
                           "Implementation of the pairs [automatic]")
      ->group("Execution");
  add_choice<row_folding>(app, "--fold", c.pairs.fold,
                          {{"auto", row_folding::automatic},
                           {"never", row_folding::never},
                           {"always", row_folding::always}},
                          "Whether rows of equal ranks are computed once [auto]")
      ->group("Execution");
  add_manner(app, c);
}

/// How the bits of INPUT and --against stand in their files.
void add_fingerprints(CLI::App& app, io::fingerprint_options& bits) {
  add_choice(app, "--input-format", bits.format, names_in(io::fingerprint_formats),
             "How the bits stand in the file: FPS; lines with hexadecimal digits, or with "
             "digits 0 and 1, in one field (--columns says which); a table of 0 and 1; "
             ".npy of uint8 as np.packbits packs [auto]")
      ->group("Input");
  app.add_option("--bits", bits.bits,
                 "Bits of a row, where its octets have more or the file does not say that they are "
                 "packed [all]")
      ->type_name("N")
      ->check(number_in("a whole number from 1 to 2147483647",
                        [](double n) { return n >= 1 && n <= 2147483647; }))
      ->group("Input");
  add_choice(app, "--bit-order", bits.order, names_in(io::bit_orders),
             "Of packed octets: whether the most or the least significant bit comes "
             "first, as np.packbits says it [big]")
      ->group("Input");
}

/// What does not go with --adjust max-t, or only with it; "" where there is nothing.
std::string check_permutations(const CLI::App& app, const pairs_command& c) {
  if (c.correct != correction::max_t) {
    for (const char* option : {"--shuffle", "--permutations", "--seed"}) {
      if (is_given(app, option)) return fmt::format("{} needs --adjust max-t", option);
    }
    return "";
  }
  const double least = 1.0 / (1.0 + static_cast<double>(c.max_t.permutations));
  if (c.filter.max_p < least) {
    return fmt::format(
        "--max-p: got {}, expected at least {:.6g} with --permutations {}: no adjusted p is "
        "smaller than 1 / {}",
        c.filter.max_p, least, c.max_t.permutations, c.max_t.permutations + 1);
  }
  if (c.is_part || c.resumes) {
    return fmt::format(
        "--adjust max-t does not go with {}: its cut is that of all pairs. Run it once with "
        "--keep counts --report FILE, and give the min_abs_effective of the report to the parts as "
        "--min-abs, without --max-p",
        c.is_part ? "--part" : "--resume");
  }
  if (c.pairs.nans == nan_policy::pairwise) {
    return "--adjust max-t does not go with --nan pairwise, expected reject or propagate";
  }
  if (!c.covariates.empty() || !c.weights.empty()) {
    return fmt::format("--adjust max-t does not go with {}, which tells columns apart",
                       c.covariates.empty() ? "--weights" : "--covariates");
  }
  return c.plan_only ? "--adjust max-t does not go with --plan: its cut takes the shuffles" : "";
}

/// What does not go with --keep-fraction; "" where there is nothing.
std::string check_fraction(const CLI::App& app, const pairs_command& c) {
  if (c.keep_fraction == 0) return "";
  if (c.is_part || c.resumes) {
    return fmt::format(
        "--keep-fraction does not go with {}: its cut is that of all pairs. Run it once with "
        "--keep counts --report FILE, and give the min_abs_effective of the report to the parts as "
        "{}",
        c.is_part ? "--part" : "--resume", c.fingerprints ? "--threshold" : "--min-abs");
  }
  for (const char* option : {"--min-abs", "--threshold", "--adjust", "--plan"}) {
    if (is_given(app, option)) return fmt::format("--keep-fraction does not go with {}", option);
  }
  return "";
}

/// What does not go with --nan pairwise, or only with it; "" where there is nothing.
std::string check_missing_values(const CLI::App& app, const pairs_command& c) {
  if (c.pairs.nans != nan_policy::pairwise) {
    for (const char* option : {"--min-observations", "--observations", "--observations-output"}) {
      if (is_given(app, option)) return fmt::format("{} needs --nan pairwise", option);
    }
    return "";
  }
  if (c.keep == keep_kind::folded_edges) {
    return "--keep folded-edges does not go with --nan pairwise: rows are equal to one partner and "
           "not to the next";
  }
  const bool is_in_parts = c.is_part || c.resumes;
  if (is_in_parts && !c.observations.empty()) {
    return fmt::format(
        "--observations-output does not go with {}: parts of dense results have the statistics "
        "alone",
        c.is_part ? "--part" : "--resume");
  }
  if (is_in_parts && c.filter.adjust != adjustment::none) {
    return "--adjust does not go with --nan pairwise in parts: no part knows the tests of the job";
  }
  return "";
}

/// What does not go with covariates and weights of columns; "" where there is nothing.
std::string check_columns(const CLI::App& app, const pairs_command& c) {
  if (is_given(app, "--match") && c.against.empty() && c.covariates.empty() && c.weights.empty()) {
    return c.fingerprints ? "--match needs --against"
                          : "--match needs --against, --covariates or --weights";
  }
  if (is_given(app, "--effective-observations") && c.pairs.nans == nan_policy::pairwise) {
    return "--effective-observations does not go with --nan pairwise: each pair has the columns "
           "that its rows share";
  }
  for (const char* option : {"--covariates", "--weights"}) {
    if (!is_given(app, option)) continue;
    if ((option == std::string_view("--weights") ? c.weights : c.covariates) == "-") {
      return fmt::format("{} -: standard input is taken for INPUT alone, expected a file", option);
    }
    if (c.pairs.nans == nan_policy::pairwise) {
      return fmt::format("{} does not go with --nan pairwise", option);
    }
    if (c.keep == keep_kind::folded_edges) {
      return fmt::format("{} does not go with --keep folded-edges: rows are not folded then",
                         option);
    }
    if (c.pairs.fold == row_folding::always) {
      return fmt::format("{} does not go with --fold always", option);
    }
  }
  return "";
}

/// Refuses options that would change nothing in this run; "" where there are none.
std::string check_kept(const CLI::App& app, const pairs_command& c) {
  for (const char* option : {"-k", "--order"}) {
    if (!is_given(app, option) || c.keep == keep_kind::top_k) continue;
    return fmt::format("{} needs --keep top-k", option);
  }
  if (c.digits > 0) {
    if (!io::has_fields(c.format) || c.keep == keep_kind::counts) {
      return "--digits needs real numbers in text";
    }
    // merge computes q from the statistics of parts.
    if (c.is_part || c.resumes) {
      return fmt::format("--digits does not go with {}, expected the statistic in full",
                         c.is_part ? "--part" : "--resume");
    }
  }
  if (c.keep != keep_kind::dense && !c.observations.empty()) {
    return "--observations-output needs --keep dense; edges and top-k have --observations";
  }
  if (c.keep == keep_kind::dense) {
    for (const char* cut :
         {"--max-p", "--min-abs", "--tail", "--adjust", "--threshold", "--keep-fraction"}) {
      if (is_given(app, cut)) {
        return fmt::format("{} does not go with --keep dense, which keeps every statistic", cut);
      }
    }
  }
  if (c.keep != keep_kind::folded_edges) {
    return c.patterns.empty() ? "" : "--patterns needs --keep folded-edges";
  }
  if (c.info().equals != equal_rows::folded) {
    return fmt::format("--keep folded-edges: {} does not fold equal rows, expected another --keep",
                       c.info().name);
  }
  if (c.pairs.fold == row_folding::never)
    return "--keep folded-edges does not go with --fold never";
  const bool needs_patterns = !c.plan_only && !c.is_part;
  return c.patterns.empty() && needs_patterns ? "--keep folded-edges needs --patterns FILE" : "";
}

/// Where columns of a pair behind p have no place; "" where they have one.
/// @param option asks for the columns.
std::string check_place(const pairs_command& c, std::string_view option) {
  if (c.keep == keep_kind::counts || c.keep == keep_kind::dense) {
    const bool is_pairwise = c.pairs.nans == nan_policy::pairwise;
    return fmt::format(
        "{} does not go with --keep {}, which has no columns of a pair: expected {}{}", option,
        c.keep == keep_kind::counts ? "counts" : "dense",
        is_pairwise ? "edges or top-k" : "edges, top-k or folded-edges",
        c.writes_n && c.keep == keep_kind::dense ? ", or --observations-output FILE" : "");
  }
  if (c.format == io::result_format::matrix_market) {
    return fmt::format(
        "{} does not go with --format mtx, which holds one number of an edge: expected a table",
        option);
  }
  return "";
}

/// Where confidence intervals have no place; "" where they have one, or are not asked for.
std::string check_confidence(const pairs_command& c) {
  if (c.confidence == 0) return "";
  const measure_info info = c.info();
  if (info.interval == interval_method::none) {
    return fmt::format("--confidence: {} has no confidence interval, expected another measure",
                       info.name);
  }
  if (!c.weights.empty() && c.pairs.effective_observations == 0) {
    return "--confidence with --weights needs --effective-observations";
  }
  return check_place(c, "--confidence");
}

/// What does not go with a sparse matrix of edges; "" where all does.
std::string check_matrix_market(const pairs_command& c) {
  if (c.format != io::result_format::matrix_market) return "";
  if (c.keep != keep_kind::edges) return "--format mtx needs --keep edges";
  if (c.is_part || c.resumes) {
    return fmt::format("--format mtx does not go with {}: parts are tables",
                       c.is_part ? "--part" : "--resume");
  }
  return "";
}

std::string check_files(const CLI::App& app, const pairs_command& c) {
  if (c.input == "-" && c.against == "-") {
    return "--against -: standard input is INPUT already, expected a file";
  }
  if (c.plan_only) {
    for (const char* file : {"--output", "--report", "--patterns", "--observations-output"}) {
      if (is_given(app, file)) {
        return fmt::format("{} does not go with --plan, which writes to standard output", file);
      }
    }
    return "";
  }
  if (c.format != io::result_format::npy || c.is_part) return "";
  if (c.keep == keep_kind::counts && c.output.empty()) {
    return "--format npy of counts needs --output: the two totals are text";
  }
  const bool are_edges = c.keep == keep_kind::edges || c.keep == keep_kind::folded_edges;
  if (are_edges && (c.output.empty() || c.output == "-")) {
    return "--format npy of edges needs --output FILE: their number stands in front of them";
  }
  return "";
}

}  // namespace

void add_measure(CLI::App& app, measure& what) {
  names_of<measure> names;
  for (const measure each : all_measures()) names.emplace(to_string(each), each);
  add_choice(app, "--measure", what, names, "What is computed of two rows")->required();
}

void add_pair_options(CLI::App& app, pairs_command& c) {
  add_input(app, c);
  add_against(app, c);
  add_columns(app, c);
  add_match(app, c,
            "How the columns of --against, --covariates and --weights are found: by their names, "
            "where both files have names, or in order [name]");
  add_filter(app, c);
  add_result(app, c);
  add_execution(app, c);
  add_parts(app, c);
}

void add_tanimoto_options(CLI::App& app, pairs_command& c, io::fingerprint_options& bits) {
  add_input(app, c,
            "Fingerprints: FPS, text with hexadecimal or binary digits, a table of 0 and 1 of any "
            "format that the other commands read, or packed .npy, each also compressed by gzip or "
            "zstd; - for standard input");
  add_fingerprints(app, bits);
  add_against(app, c);
  add_match(app, c,
            "For tables of 0 and 1: whether the columns of --against are found by their names, "
            "where both files have names, or in order [name]");
  app.add_option("-t,--threshold", c.filter.min_abs, "Keep pairs with a similarity >= T [0]")
      ->type_name("T")
      ->check(number_in("a number from 0 to 1", [](double t) { return t >= 0 && t <= 1; }))
      ->group("Which pairs");
  add_keep_fraction(app, c);
  add_kept(app, c,
           {{"edges", keep_kind::edges},
            {"top-k", keep_kind::top_k},
            {"counts", keep_kind::counts},
            {"dense", keep_kind::dense}});
  add_output(app, c);
  add_digits(app, c);
  add_report(app, c, "Also write input, cuts, counts and times as JSON");
  add_size_limit(app, c);
  add_backend(app, c.pairs.exec);
  add_manner(app, c);
  add_parts(app, c);
}

void settle_adjustment(pairs_command& c) {
  c.max_t.side = c.filter.side;
  switch (c.correct) {
    case correction::none:
    case correction::max_t:
      break;
    case correction::bonferroni:
      c.filter.adjust = adjustment::bonferroni;
      break;
    case correction::benjamini_hochberg:
      c.filter.adjust = adjustment::benjamini_hochberg;
  }
}

std::string check_pair_options(const CLI::App& app, const pairs_command& c) {
  for (const std::string& wrong :
       {check_kept(app, c), check_confidence(c), check_permutations(app, c), check_fraction(app, c),
        check_missing_values(app, c), c.writes_n ? check_place(c, "--observations") : std::string(),
        check_columns(app, c), check_parts_options(app, c), check_matrix_market(c),
        check_files(app, c)}) {
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace gpu::cli
