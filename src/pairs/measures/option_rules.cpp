#include <gpu/detail/option_rules.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <gpu/error.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/check_enumerator.hpp"
#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {
namespace {

using facts = call_facts;

bool has_partial(const measure_traits& what) {
  return is_centred(what.centre);
}
bool is_of_values(const measure_traits& what) {
  return what.form == row_form::unit_values && what.transform == row_transform::none;
}
bool is_tested_by_t(const measure_traits& what) {
  return what.info.test == significance::student_t || what.info.test == significance::floored_t;
}
bool is_of_numbers(const measure_traits& what) {
  return what.form != row_form::bits;
}
bool folds(const measure_traits& what) {
  return what.info.equals == equal_rows::folded;
}

// An option, the measures that have it, and what it does not go with. Of two options that do not go
// together the first line with the other names both.
struct option_rule {
  unsigned asked;
  std::string_view name;
  std::string_view got;  // its value; "" where any is meant
  std::string_view expected;
  bool (*takes)(const measure_traits&);  // null: every measure
  unsigned refused_with;
};
constexpr unsigned columns = facts::columns;
constexpr unsigned elsewhere = facts::device_results | facts::differences | facts::shuffles;
constexpr std::array rules{
    option_rule{facts::pairwise, "options.nans", "pairwise", "reject or propagate", is_of_numbers,
                facts::exact_p | columns | facts::effective | facts::device_table |
                    facts::preparation | facts::prepared_y | facts::discoveries | elsewhere},
    option_rule{facts::exact_p, "options.p_method", "exact", "automatic or t", packs_ranks,
                columns | facts::effective | elsewhere},
    option_rule{facts::covariates, "options.covariates", "", "none", has_partial,
                facts::device_table | elsewhere},
    option_rule{facts::weights, "options.column_weights", "", "none", is_of_values,
                facts::device_table | elsewhere},
    option_rule{facts::effective, "options.effective_observations", "", "0", is_tested_by_t,
                facts::preparation | facts::device_results | facts::differences},
    option_rule{facts::tversky, "options.alpha, options.beta", "", "1", takes_weights_of_bits, 0},
    option_rule{facts::folded, "options.fold", "always", "automatic or never", folds,
                facts::pairwise | facts::exact_p | columns | facts::prepared_y |
                    facts::connectivity | facts::device_results | facts::differences},
    option_rule{facts::of_bits, "x", "a table of bits", "a sink of pair_sinks.hpp", nullptr,
                facts::device_results},
    option_rule{facts::prepared_y, "y", "a table of prepared rows", "a table", nullptr,
                facts::device_results},
    option_rule{facts::parts, "options.part", "", "the whole job", nullptr, facts::shuffles},
    option_rule{facts::step_up, "pair_filter.adjust", "benjamini_hochberg", "none or bonferroni",
                nullptr, facts::parts | facts::device_results},
    option_rule{facts::adjusted, "pair_filter.adjust", "", "none", nullptr, facts::shared_parts}};

struct fact_words {
  unsigned fact;
  std::string_view text;
};
constexpr std::array words{
    fact_words{facts::exact_p, "with options.p_method exact"},
    fact_words{facts::covariates, "with options.covariates"},
    fact_words{facts::weights, "with options.column_weights"},
    fact_words{facts::effective, "with options.effective_observations"},
    fact_words{facts::pairwise, "with options.nans pairwise"},
    fact_words{facts::shared_parts, "with options.part and nan_policy::pairwise"},
    fact_words{facts::parts, "with options.part"},
    fact_words{facts::device_results, "with results in device memory"},
    fact_words{facts::device_table, "with a table in device memory"},
    fact_words{facts::preparation | facts::prepared_y, "for rows that are prepared"},
    fact_words{facts::connectivity, "with connectivity_sink"},
    fact_words{facts::discoveries, "for the discoveries of parts"},
    fact_words{facts::differences, "for differential correlation"},
    fact_words{facts::shuffles, "for max-T"}};

void check_values(const pair_options& options) {
  check_enumerator("options.p_method", options.p_method, p_method::exact);
  check_enumerator("options.variant", options.variant, pair_variant::hopper);
  check_enumerator("options.fold", options.fold, row_folding::always);
  if (options.effective_observations != 0) {
    stats::check_observations("options.effective_observations", options.effective_observations);
  }
  if (options.nans == nan_policy::pairwise) {
    stats::check_observations("options.min_observations", options.min_observations);
  } else if (options.min_observations != stats::least_observations) {
    throw invalid_argument(
        fmt::format("options.min_observations: got {} without options.nans pairwise, expected {}",
                    options.min_observations, stats::least_observations));
  }
}

}  // namespace

unsigned facts_of(const pair_options& options) {
  const matrix_view<const double> covariates = options.covariates;
  const bool is_part = options.part.of > 1;
  const bool is_pairwise = options.nans == nan_policy::pairwise;
  unsigned out = facts::none;
  const auto note = [&out](bool is_asked, unsigned fact) { out |= is_asked ? fact : facts::none; };
  note(is_pairwise, facts::pairwise);
  note(options.p_method == p_method::exact, facts::exact_p);
  note(covariates.rows() > 0 || covariates.cols() > 0, facts::covariates);
  note(!options.column_weights.empty(), facts::weights);
  note(options.effective_observations != 0, facts::effective);
  note(options.alpha != 1 || options.beta != 1, facts::tversky);
  note(options.fold == row_folding::always, facts::folded);
  note(is_part, facts::parts);
  note(is_part && is_pairwise, facts::shared_parts);
  return out;
}

unsigned facts_of(const pair_filter& keep) {
  if (keep.adjust == adjustment::none) return facts::none;
  const bool steps = keep.adjust == adjustment::benjamini_hochberg;
  return steps ? facts::adjusted | facts::step_up : facts::adjusted;
}

void check_pair_options(measure of, const pair_options& options, unsigned meets) {
  const measure_traits& what = traits_of(of);
  check_values(options);
  if (is_of_numbers(what) == ((meets & facts::of_bits) != 0)) {
    throw unsupported(fmt::format(
        "measure: {} compares rows of {}", what.info.title,
        is_of_numbers(what) ? "numbers, got a table of bits" : "bits, got a table of numbers"));
  }
  if (!is_of_numbers(what)) static_cast<void>(bit_traits_of(what, options, true));
  unsigned all = meets | facts_of(options);
  // Only rows that are prepared with covariates or weights know of a test.
  if ((all & columns) != 0) all &= ~unsigned{facts::preparation};
  for (const option_rule& rule : rules) {
    if ((all & rule.asked) == 0) continue;
    const std::string refused =
        fmt::format("{}: {}not offered", rule.name,
                    rule.got.empty() ? std::string() : fmt::format("{} is ", rule.got));
    if (rule.takes != nullptr && !rule.takes(what)) {
      throw unsupported(fmt::format("{} for {}, only for {}", refused, what.info.title,
                                    names_of_measures(rule.takes)));
    }
    const auto met = std::ranges::find_if(
        words, [&](const fact_words& each) { return (all & rule.refused_with & each.fact) != 0; });
    if (met == words.end()) continue;
    throw unsupported(fmt::format("{} {}, expected {}", refused, met->text, rule.expected));
  }
}

}  // namespace gpu::inline v0::detail
