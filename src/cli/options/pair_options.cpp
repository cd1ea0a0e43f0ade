#include "cli/options/option_groups.hpp"

#include <fmt/format.h>

#include <string>

#include <gpu/detail/option_rules.hpp>

namespace gpu::cli {
namespace {

void add_keep_fraction(verb& v, pairs_command& c) {
  v.heading = "Which pairs";
  v.add_number("--keep-fraction", c.keep_fraction, "F", {.most = 1, .is_above = true},
               "Keep the strongest share F of all tested pairs, and those as strong as the last");
}

void add_filter(verb& v, pairs_command& c) {
  v.heading = "Which pairs";
  v.add_number("--max-p", c.filter.max_p, "P", {.most = 1, .is_above = true},
               "Keep pairs with p <= P, after --adjust [1]")
      ->of_result();
  v.add_number("--min-abs", c.filter.min_abs, "R", {.most = 1},
               "Keep pairs with |statistic| >= R; with --tail greater statistic >= R, with less "
               "statistic <= -R; 0 keeps all [0]")
      ->of_result();
  add_choice(v, "--tail", c.filter.side,
             "Alternative hypothesis of p, and the sign that --min-abs keeps [two-sided]")
      ->of_result();
  add_keep_fraction(v, c);
  add_choice(v, "--adjust", c.correct,
             "Multiple-testing correction of --max-p: bonferroni (bonf), bh (false discovery rate, "
             "fdr) or max-t (permutation). Adds a column q with the adjusted p (not to edges with "
             "bh and --min-abs together) [none]",
             {{"bonf", "bonferroni"}, {"fdr", "bh"}, {"maxt", "max-t"}})
      ->of_result();
  add_choice(v, "--shuffle", c.max_t.shuffle,
             "For --adjust max-t: shuffle columns in any order, or shift them together (time "
             "series) [permutation]");
  v.add_number(
      "--permutations", c.max_t.permutations, "N", {.least = 1, .most = 1000000},
      "For --adjust max-t: number of shuffles; with circular fewer than there are columns [1000]");
  v.add_number("--seed", c.max_t.seed, "S", {}, "For --adjust max-t: seed of the shuffles [0]");
}

void add_against(verb& v, pairs_command& c) {
  v.heading = "Input";
  v.add_file("--against", c.against,
             "Compare every row of INPUT with every row of this second table, which has as many "
             "columns, instead of the rows of INPUT with each other");
}

void add_match(verb& v, pairs_command& c, const char* description) {
  v.heading = "Input";
  add_choice(v, "--match", c.match, description)->of_result();
}

void add_columns(verb& v, pairs_command& c) {
  v.heading = "Input";
  v.add_file("--covariates", c.covariates,
             "Partial correlation given the rows of this table. It needs the same columns as "
             "INPUT; spearman and pearson");
  v.add_file("--weights", c.weights,
             "Weight of each column of INPUT: a table of one row or one column of numbers from "
             "0; pearson and cosine");
  observation_count& sample_size = c.pairs.effective_observations;
  const auto take = [&sample_size](const std::string& n) -> std::string {
    sample_size = std::strtod(n.c_str(), nullptr);
    return "";
  };
  option* const added =
      v.add("--effective-observations", take,
            "Sample size used for t, p and confidence intervals; spearman, pearson and bicor [the "
            "columns; with --weights there are no t and p]");
  added->type_name("N")->check(number_in({.least = 3}, false))->of_result();
  added->said = [&sample_size] {
    return sample_size == 0 ? std::string() : fmt::format("{}", double{sample_size});
  };
}

void add_kept(verb& v, pairs_command& c, const words<keep_kind>& kinds) {
  v.heading = "Result";
  add_choice(v, "--keep", c.keep, kinds, "What to keep of the pairs [edges]")->of_result();
  v.add_number("-k", c.k, "K", {.least = 1}, "Partners of each row for --keep top-k [10]")
      ->of_result();
}

void add_digits(verb& v, pairs_command& c) {
  v.heading = "Result";
  v.add_number("--digits", c.digits, "N", {.least = 1, .most = 17},
               "Significant digits of all numbers in text, 1 to 17 [the statistic in full, 6 of "
               "the others]");
}

void add_result(verb& v, pairs_command& c) {
  add_kept(v, c, {words_of<keep_kind>.begin(), words_of<keep_kind>.end()});
  v.heading = "Result";
  add_choice(v, "--order", c.order,
             "What is best for --keep top-k: the largest magnitude, or the largest statistic "
             "(with --tail less: the smallest) [by-absolute-value]")
      ->of_result();
  v.add_option("--observations", c.writes_n,
               "With --nan pairwise: write the number of columns that the rows of each pair share, "
               "its observations, in a column n")
      ->of_result();
  v.add_number("--confidence", c.confidence, "LEVEL",
               {.most = 1, .is_above = true, .is_below = true},
               "Write the confidence interval of each pair's statistic, two-sided at this level, "
               "in columns lower and upper [none]")
      ->of_result();
  add_output(v, c);
  v.add_file("--observations-output", c.observations,
             "For --keep dense with --nan pairwise: the number of columns that the rows of "
             "each pair share, as a matrix like that of the statistics");
  add_digits(v, c);
  add_report(v, c, "Also write input, cuts, counts and times as JSON");
  add_size_limit(v, c);
}

/// Whether it runs, and what it says meanwhile.
void add_manner(verb& v, pairs_command& c) {
  v.heading = "Execution";
  v.add_option(
      "--plan", c.plan_only,
      "Say what would run, how long it would last and how large its result would be, and end");
  v.add_option("-q,--quiet", c.quiet, "No progress and no summary");
}

void add_execution(verb& v, pairs_command& c) {
  v.heading = "Which pairs";
  add_choice(v, "--p-method", c.pairs.p_method,
             "For Spearman: Student's t as in SciPy (t); permutations if neither row of a pair has "
             "ties (exact); permutations up to 9 columns, then t that is never below what "
             "permutations allow (auto) [auto]")
      ->of_result();
  add_missing_values(v, c.pairs);
  add_backend(v, c.pairs.exec);
  v.heading = "Execution";
  add_choice(v, "--variant", c.pairs.variant, "Implementation of the pairs [automatic]");
  add_choice(v, "--fold", c.pairs.fold, "Whether rows of equal ranks are computed once [auto]");
  add_manner(v, c);
}

/// How the bits of INPUT and --against stand in their files.
void add_fingerprints(verb& v, io::fingerprint_options& bits) {
  v.heading = "Input";
  add_choice(
      v, "--input-format", bits.format,
      "How the file holds the bits: FPS, or a table of 0 and 1 [FPS if it begins with #FPS1]")
      ->of_result();
  v.add_number("--bits", bits.bits, "N", {.least = 1, .most = 2147483647},
               "Bits of a row, if FPS has more octets and no header [all]")
      ->of_result();
}

}  // namespace

words<measure> measure_words() {
  words<measure> names;
  for (const measure each : all_measures()) names.emplace_back(to_string(each), each);
  return names;
}

void add_measure(verb& v, measure& what) {
  add_choice(v, "--measure", what, measure_words(), "What is computed of two rows")->required();
}

void add_pair_options(verb& v, pairs_command& c) {
  add_input(v, c);
  add_against(v, c);
  add_columns(v, c);
  add_match(v, c,
            "How the columns of --against, --covariates and --weights are matched with INPUT: by "
            "name, if both files have names, or in order [name]");
  add_filter(v, c);
  add_result(v, c);
  add_execution(v, c);
  add_parts(v, c, "How many parts, for --resume and --plan [chosen]");
}

void add_bit_options(verb& v, pairs_command& c) {
  add_input(v, c,
            "Fingerprints: FPS, or a table of 0 and 1 of any format that the other commands read, "
            "each also compressed by gzip or zstd; - for standard input");
  add_fingerprints(v, *c.fingerprints);
  add_against(v, c);
  add_match(v, c,
            "For tables of 0 and 1: how the columns of --against are matched: by name, if both "
            "files have names, or in order [name]");
  v.heading = "Which pairs";
  if (c.what == measure::tversky) {
    const number_range weights{.least = 0, .most = 1000};
    v.add_number(
         "--alpha", c.pairs.alpha, "A", weights,
         "What a bit of row i alone counts, where one of both counts 1: a fraction, as 0.7 [1]")
        ->of_result();
    v.add_number("--beta", c.pairs.beta, "B", weights,
                 "The same of a bit of row j alone; without --against equal to --alpha [1]")
        ->of_result();
  }
  v.add_number("-t,--threshold", c.filter.min_abs, "T", {.most = 1},
               "Keep pairs with a similarity >= T [0]")
      ->of_result();
  add_keep_fraction(v, c);
  add_kept(v, c,
           words_for({keep_kind::edges, keep_kind::top_k, keep_kind::counts, keep_kind::dense}));
  add_output(v, c);
  add_digits(v, c);
  add_report(v, c, "Also write input, cuts, counts and times as JSON");
  add_size_limit(v, c);
  add_backend(v, c.pairs.exec);
  add_manner(v, c);
  add_parts(v, c, "How many parts, for --resume and --plan [chosen]");
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

void check_with_library(const pairs_command& c) {
  static constexpr double unread = 1;  // of a file
  pair_options asked = c.pairs;
  if (!c.covariates.empty()) asked.covariates = {&unread, 1, 1};
  if (!c.weights.empty()) asked.column_weights = {&unread, 1};
  if (c.is_part || c.resumes) asked.part = {.index = 0, .of = 2};
  unsigned meets = c.fingerprints ? detail::call_facts::of_bits : detail::call_facts::none;
  if (c.correct == correction::max_t) meets |= detail::call_facts::shuffles;
  if (c.filter.adjust != adjustment::none) meets |= detail::call_facts::adjusted;
  detail::check_pair_options(c.what, asked, meets);
}

std::string check_pair_options(const verb& v, const pairs_command& c) {
  const bool is_in_parts = c.is_part || c.resumes;
  const std::string no_parts = c.is_part ? "does not go with --part" : "does not go with --resume";
  const std::string once = fmt::format(
      "{}: its cut needs all pairs. Run it once with --keep counts --report FILE, and give the "
      "min_abs_effective of the report to the parts as {}",
      no_parts, c.fingerprints ? "--threshold" : "--min-abs");
  const bool is_max_t = c.correct == correction::max_t;
  const double least = 1.0 / (1.0 + static_cast<double>(c.max_t.permutations));
  const bool is_pairwise = c.is_pairwise();
  const bool is_dense = c.keep == keep_kind::dense;
  const bool is_counts = c.keep == keep_kind::counts;
  const std::string no_columns = fmt::format(
      "does not go with --keep {}, which has no columns of a pair: expected edges or top-k{}",
      word_of(c.keep), c.writes_n && is_dense ? ", or --observations-output FILE" : "");
  const measure_info info = c.info();
  const bool is_array = c.format == io::result_format::npy;
  const std::string one_stdin = "-: only INPUT may be standard input, expected a file";
  std::string wrong = v.broken({
      {c.keep != keep_kind::top_k, "-k --order", "needs --keep top-k"},
      {is_array || is_counts, "--digits", "needs real numbers in text"},
      // merge computes q from the statistics of parts.
      {is_in_parts, "--digits", no_parts + ", expected the statistic in full"},
      {!is_dense, "--observations-output",
       "needs --keep dense; edges and top-k have --observations"},
      {is_dense, "--max-p --min-abs --tail --adjust --threshold --keep-fraction",
       "does not go with --keep dense, which keeps every statistic"},
      {info.interval == interval_method::none, "--confidence",
       fmt::format(": {} has no confidence interval, expected another measure", info.name)},
      {!c.weights.empty() && c.pairs.effective_observations == 0, "--confidence",
       "with --weights needs --effective-observations"},
      {is_counts || is_dense, "--confidence", no_columns},
      {!is_max_t, "--shuffle --permutations --seed", "needs --adjust max-t"},
      {is_max_t && c.filter.max_p < least, "--max-p",
       fmt::format(": got {}, expected at least {:.6g} with --permutations {}: no adjusted p is "
                   "smaller than 1 / {}",
                   c.filter.max_p, least, c.max_t.permutations, c.max_t.permutations + 1)},
      {is_max_t && is_in_parts, "--adjust", "max-t " + once + ", without --max-p"},
      {is_max_t && c.plan_only, "--adjust",
       "max-t does not go with --plan: its cut needs the shuffles"},
      {is_in_parts, "--keep-fraction", once},
      {c.keep_fraction > 0, "--min-abs --threshold --adjust --plan",
       "does not go with --keep-fraction"},
      {!is_pairwise, "--min-observations --observations --observations-output",
       "needs --nan pairwise"},
      {is_in_parts, "--observations-output",
       no_parts + ": parts of dense results have only the statistics"},
      {is_counts || is_dense, "--observations", no_columns},
      {c.against.empty() && c.covariates.empty() && c.weights.empty(), "--match",
       c.fingerprints ? "needs --against" : "needs --against, --covariates or --weights"},
      {c.covariates == "-", "--covariates", one_stdin},
      {c.weights == "-", "--weights", one_stdin},
  });
  if (wrong.empty()) wrong = check_parts_options(v, c);
  if (!wrong.empty()) return wrong;
  return v.broken({
      {c.input == "-" && c.against == "-", "--against",
       "-: standard input is INPUT already, expected a file"},
      {c.plan_only, "--output --report --observations-output",
       "does not go with --plan, which writes to standard output"},
      {is_array && !c.is_part && is_counts && c.output.empty(), "--format",
       "npy of counts needs --output: the two totals are text"},
      {is_array && !c.is_part && c.keep == keep_kind::edges &&
           (c.output.empty() || c.output == "-"),
       "--format", "npy of edges needs --output FILE: the file begins with their number"},
  });
}

}  // namespace gpu::cli
