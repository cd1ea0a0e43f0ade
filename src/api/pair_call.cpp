#include "api/pair_call.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

#include "api/arguments.hpp"
#include "base/check_enumerator.hpp"
#include "pairs/checks.hpp"
#include "pairs/prepared_table.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

// With nan_policy::pairwise, and where the tables hold a NaN, the descriptor of rows with missing
// values.
measure_traits traits_by_nans(measure what, const pair_tables& tables,
                              const pair_options& options) {
  const measure_traits& complete = traits_of(what);
  if (options.nans != nan_policy::pairwise) return complete;
  check_execution(options.exec);
  if (is_on_device(tables)) {
    throw unsupported(
        "options.nans: pairwise takes tables in host memory, got one in device memory");
  }
  if (tables.prepared_y != nullptr) {
    throw unsupported("options.nans: pairwise is not offered for rows that are prepared");
  }
  validate::check_pair_shape(complete, tables);
  // Complete rows share all columns: too few of them leave no pair a statistic, either.
  const bool has_few = options.min_observations > cols_of(tables.x);
  const bool is_pairwise = has_few || validate::has_nan(tables, options.exec.cpu_threads);
  return is_pairwise ? pairwise_traits_of(complete) : complete;
}

// The option that a refusal names.
const char* name_of(const pair_options& options) {
  if (!options.column_weights.empty()) return "options.column_weights";
  return names_columns(options) ? "options.covariates" : "options.effective_observations";
}

void check_columns_of(const prepared_table& y, const pair_options& options) {
  const bool are_those_of_y = !names_columns(options) && options.effective_observations == 0;
  if (are_those_of_y || (y.columns != nullptr && y.columns->is_of(options))) return;
  if (y.columns == nullptr && !names_columns(options)) return;
  throw invalid_argument(
      fmt::format("{}: got others than y was prepared with, expected the same, or none, which "
                  "takes those of y",
                  name_of(options)));
}

std::shared_ptr<const column_model> find_columns(measure what, const pair_tables& tables,
                                                 const pair_options& options) {
  const measure_traits& complete = traits_of(what);
  const prepared_table* const prepared = tables.prepared_y.get();
  if (prepared != nullptr) {
    if (prepared->what != what) return nullptr;  // which the call refuses
    check_columns_of(*prepared, options);
  } else if (!names_columns(options)) {
    return nullptr;
  }
  const bool are_prepared = prepared != nullptr && prepared->columns != nullptr;
  if (prepared != nullptr && !are_prepared) return nullptr;
  const char* const given = are_prepared ? "the covariates or weights of y" : name_of(options);
  if (is_on_device(tables)) {
    throw unsupported(
        fmt::format("{}: got a table in device memory, which {} cannot go with, expected a copy of "
                    "it in host memory",
                    has_y(tables) ? "x" : "data", given));
  }
  if (options.nans == nan_policy::pairwise) {
    throw unsupported(fmt::format(
        "options.nans: pairwise is not offered with {}, expected reject or propagate", given));
  }
  check_execution(options.exec);
  validate::check_pair_shape(complete, tables);
  validate::check_exact_values(complete, tables, options.exec.cpu_threads);
  if (are_prepared) return prepared->columns;
  const index_t cols = std::visit([](const auto& view) { return view.cols(); }, tables.x);
  return std::make_shared<const column_model>(complete, cols, options);
}

// Refuses what does not go with p by permutations.
measure_traits with_exact_p(const measure_traits& what, bool have_columns,
                            const pair_options& options) {
  if (have_columns) {
    throw unsupported(
        "options.p_method: exact is not offered with covariates or weights of columns, expected t");
  }
  if (options.nans == nan_policy::pairwise) {
    throw unsupported(
        "options.nans: pairwise is not offered with options.p_method exact, expected reject or "
        "propagate");
  }
  return permutation_traits_of(what);
}

measure_traits with_p_method(const measure_traits& what, index_t cols, bool have_columns,
                             const pair_options& options, p_use use) {
  switch (options.p_method) {
    case p_method::automatic:
      break;
    case p_method::t:
      return student_t_traits_of(what);
    case p_method::exact:
      return with_exact_p(what, have_columns, options);
  }
  // Permutations and the floor of t are those of columns.
  const bool is_of_columns =
      what.effective_observations == 0 && options.effective_observations == 0;
  if (!is_of_columns) return student_t_traits_of(what);
  const bool has_permutations =
      use == p_use::of_pairs && packs_ranks(what) &&
      test_of(what.info.what, cols, options) == significance::permutations;
  return has_permutations ? permutation_traits_of(what) : what;
}

// The test of a call whose columns are what they are, except that they tell as much as others.
measure_traits with_effective_observations(const measure_traits& what,
                                           const pair_options& options) {
  if (options.nans == nan_policy::pairwise) {
    throw unsupported(
        "options.nans: pairwise is not offered with options.effective_observations, expected "
        "reject or propagate");
  }
  return effective_traits_of(what, options.effective_observations);
}

}  // namespace

pair_call::pair_call(measure what, const pair_tables& tables, const pair_options& options,
                     p_use use)
    : columns_(find_columns(what, tables, options)),
      what_(columns_ ? columns_->traits() : traits_by_nans(what, tables, options)),
      tables_(tables) {
  check_enumerator("options.p_method", options.p_method, p_method::exact);
  what_ = with_p_method(what_, cols_of(tables.x), columns_ != nullptr, options, use);
  if (!columns_) {
    if (options.effective_observations != 0) what_ = with_effective_observations(what_, options);
    return;
  }
  tables_.x = x_.emplace(tables.x, *columns_).view();
  if (tables.y) tables_.y = y_.emplace(*tables.y, *columns_).view();
}

void refuse_columns(const pair_options& options, const char* where) {
  if (!names_columns(options) && options.effective_observations == 0) return;
  throw unsupported(fmt::format("{}: is not offered {}", name_of(options), where));
}

}  // namespace gpu::inline v0::detail
