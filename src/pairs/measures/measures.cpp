#include "pairs/measures/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <gpu/detail/option_rules.hpp>
#include <gpu/error.hpp>
#include <gpu/pair_options.hpp>

#include "base/check_enumerator.hpp"
#include "stats/significance/least_rank_p.hpp"

namespace gpu::inline v0 {
namespace {

constexpr std::array measures{measure::spearman, measure::pearson, measure::cosine,
                              measure::bicor,    measure::kendall, measure::tanimoto,
                              measure::dice,     measure::tversky};
constexpr std::size_t of_numbers = 5;  // the first ones

// Null where `what` is no value of the enumeration.
const detail::measure_traits* find_traits(measure what) {
  switch (what) {  // without a default, so that the compiler names a value that is missing
    case measure::spearman:
      return &detail::spearman_traits;
    case measure::pearson:
      return &detail::pearson_traits;
    case measure::cosine:
      return &detail::cosine_traits;
    case measure::bicor:
      return &detail::bicor_traits;
    case measure::kendall:
      return &detail::kendall_traits;
    case measure::tanimoto:
      return &detail::tanimoto_traits;
    case measure::dice:
      return &detail::dice_traits;
    case measure::tversky:
      return &detail::tversky_traits;
  }
  return nullptr;
}

}  // namespace

std::span<const measure> all_measures() noexcept {
  return std::span(measures).first<of_numbers>();
}

std::span<const measure> bit_measures() noexcept {
  return std::span(measures).subspan<of_numbers>();
}

const measure_info& info_of(measure what) {
  return detail::traits_of(what).info;
}

measure measure_of(std::string_view name) {
  std::string names;
  for (const measure what : measures) {
    if (to_string(what) == name) return what;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", to_string(what));
  }
  throw invalid_argument(fmt::format("measure: got '{}', expected one of {}", name, names));
}

std::string_view to_string(measure what) noexcept {
  const detail::measure_traits* const traits = find_traits(what);
  return traits == nullptr ? "unknown" : traits->info.name;
}

std::string_view to_string(significance test) noexcept {
  return detail::name_in(test, {"none", "student_t", "floored_t", "kendall", "permutations"});
}

significance test_of(measure what, index_t cols, const pair_options& options) {
  const detail::measure_traits& traits = detail::traits_of(what);
  const significance test = traits.info.test;
  switch (options.p_method) {
    case p_method::automatic: {
      using facts = detail::call_facts;
      const unsigned asked = detail::facts_of(options);
      if ((asked & facts::effective) != 0) return detail::student_t_traits_of(traits).info.test;
      const bool is_counted = test == significance::floored_t && cols <= stats::most_counted &&
                              (asked & (facts::columns | facts::pairwise)) == 0;
      return is_counted ? significance::permutations : test;
    }
    case p_method::t:
      return detail::student_t_traits_of(traits).info.test;
    case p_method::exact:
      return significance::permutations;
  }
  return test;
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {

measure_traits pairwise_traits_of(const measure_traits& complete, index_t least_shared) {
  measure_traits out = complete;
  out.is_pairwise = true;
  out.least_shared = least_shared;
  switch (complete.form) {
    case row_form::ranks:
      out.most_cols_on_cuda = most_pairwise_rank_cols_on_cuda;
      break;
    case row_form::unit_values:
      if (complete.transform == row_transform::biweight) out.most_cols_on_cuda = 0;
      break;
    case row_form::signs:
    case row_form::bits:
      out.most_cols_on_cuda = 0;
      break;
  }
  // Rows are equal to one partner and not to the next.
  out.info.equals = equal_rows::apart;
  return out;
}

measure_traits effective_traits_of(const measure_traits& complete, observation_count observations) {
  measure_traits out = complete;
  out.observations = observations;
  return out;
}

measure_traits column_traits_of(const measure_traits& complete, index_t removed) {
  measure_traits out = complete;
  out.form = row_form::unit_values;
  out.centre = row_centre::none;
  out.packed_cols = one_each;
  out.removed = removed;
  // Rows of equal values have equal rows, but their statistic need not be exactly 1.
  out.info.equals = equal_rows::apart;
  return out;
}

measure_traits permutation_traits_of(const measure_traits& complete) {
  measure_traits out = complete;
  out.info.test = significance::permutations;
  // Patterns of rows would need p of pairs of patterns.
  out.info.equals = equal_rows::apart;
  return out;
}

measure_traits student_t_traits_of(const measure_traits& complete) {
  measure_traits out = complete;
  if (out.info.test == significance::floored_t) out.info.test = significance::student_t;
  return out;
}

namespace {

// The weights of the first denominator that makes both numbers fractions.
stats::set_weights tversky_weights(double alpha, double beta) {
  constexpr double most = 1000;
  const auto in_range = [](double weight) { return weight >= 0 && weight <= most; };
  for (double q = 1; in_range(alpha) && in_range(beta) && q <= most; ++q) {
    const double left = std::round(alpha * q);
    const double right = std::round(beta * q);
    if (left / q != alpha || right / q != beta || left + right == 0) continue;
    return {static_cast<std::int64_t>(q), static_cast<std::int64_t>(left),
            static_cast<std::int64_t>(right)};
  }
  throw invalid_argument(
      fmt::format("options.alpha, options.beta: got {} and {}, expected fractions from 0 to 1000 "
                  "with a common denominator of at most 1000, not both 0",
                  alpha, beta));
}

}  // namespace

measure_traits bit_traits_of(const measure_traits& what, const pair_options& options,
                             bool has_order) {
  measure_traits out = what;
  if (takes_weights_of_bits(what)) out.weights = tversky_weights(options.alpha, options.beta);
  if (has_order || out.weights.left == out.weights.right) return out;
  throw invalid_argument(
      fmt::format("options.alpha, options.beta: got {} and {} for the pairs of one table, which "
                  "have no order, expected equal numbers, or x against y",
                  options.alpha, options.beta));
}

std::string names_of_measures(bool (*takes)(const measure_traits&)) {
  std::string names;
  for (const measure what : measures) {
    if (!takes(traits_of(what))) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(what));
  }
  return names;
}

double z_variance_of(measure what) {
  const measure_info& info = traits_of(what).info;
  if (info.z_variance > 0) return info.z_variance;
  throw unsupported(fmt::format(
      "measure: the standard error of a difference is known of {}, got {}",
      names_of_measures([](const measure_traits& other) { return other.info.z_variance > 0; }),
      info.name));
}

const measure_traits& traits_of(measure what) {
  if (const measure_traits* const traits = find_traits(what)) return *traits;
  throw invalid_argument(fmt::format("measure: got {}, expected 0 to {}", static_cast<int>(what),
                                     measures.size() - 1));
}

}  // namespace gpu::inline v0::detail
