#include "api/pair_call.hpp"

#include <gpu/error.hpp>

#include "api/arguments.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

// With nan_policy::pairwise, and where the tables hold a NaN, the descriptor of rows with missing
// values.
measure_traits traits_by_nans(measure what, const pair_tables& tables,
                              const pair_options& options) {
  const measure_traits& complete = traits_of(what);
  if (options.nans != nan_policy::pairwise) return complete;
  validate::check_pair_shape(complete, tables);
  // Complete rows share all columns: too few of them leave no pair a statistic, either.
  const bool has_few = options.min_observations > cols_of(tables.x);
  const bool is_pairwise =
      has_few || !validate::find_nan_rows(tables, options.exec.cpu_threads).empty();
  return is_pairwise ? pairwise_traits_of(complete, options.min_observations) : complete;
}

// The options name the columns that y was prepared with, or none.
void check_columns_of(const prepared_table& y, const pair_options& options) {
  const bool are_those_of_y = !names_columns(options) && options.effective_observations == 0;
  if (are_those_of_y || (y.columns != nullptr && y.columns->is_of(options))) return;
  if (y.columns == nullptr && !names_columns(options)) return;
  throw invalid_argument(
      "options.covariates, options.column_weights, options.effective_observations: got others than "
      "y was prepared with, expected the same, or none, which means those of y");
}

std::shared_ptr<const column_model> find_columns(measure what, const pair_tables& tables,
                                                 const pair_options& options) {
  const prepared_table* const prepared = tables.prepared_y.get();
  if (prepared != nullptr) {
    if (prepared->what != what) return nullptr;  // which the call refuses
    check_columns_of(*prepared, options);
  }
  const bool has_columns =
      prepared != nullptr ? prepared->columns != nullptr : names_columns(options);
  if (!has_columns) return nullptr;
  const measure_traits& complete = traits_of(what);
  validate::check_pair_shape(complete, tables);
  validate::check_exact_values(complete, tables, options.exec.cpu_threads);
  if (prepared != nullptr) return prepared->columns;
  return std::make_shared<const column_model>(complete, cols_of(tables.x), options);
}

measure_traits with_p_method(const measure_traits& what, index_t cols, const pair_options& options,
                             bool has_p) {
  // Permutations and the floor of t are those of columns.
  const bool is_by_t = options.p_method == p_method::t || what.observations != 0;
  if (is_by_t) return student_t_traits_of(what);
  const bool has_permutations =
      options.p_method == p_method::exact ||
      (has_p && packs_ranks(what) &&
       test_of(what.info.what, cols, options) == significance::permutations);
  return has_permutations ? permutation_traits_of(what) : what;
}

measure_traits find_traits(measure what, const pair_tables& tables, const pair_options& options,
                           const column_model* columns, unsigned meets) {
  if (columns != nullptr) return columns->traits();
  if (tables.bits >= 0) {
    const bool has_order = has_y(tables) || (meets & call_facts::preparation) != 0;
    return bit_traits_of(traits_of(what), options, has_order);
  }
  return effective_traits_of(traits_by_nans(what, tables, options), options.effective_observations);
}

const pair_options& checked(measure what, const pair_tables& tables, const pair_options& options,
                            unsigned meets) {
  check_pair_options(what, options, meets | facts_of(tables));
  check_execution(options.exec);
  if (tables.bits >= 0) check_one_device(options.exec);
  check_nan_policy(options.nans, {nan_policy::reject, nan_policy::propagate, nan_policy::pairwise},
                   "all pairs");
  return options;
}

}  // namespace

unsigned facts_of(const pair_tables& tables) {
  unsigned out = is_on_device(tables) ? call_facts::device_table : call_facts::none;
  if (tables.bits >= 0) out |= call_facts::of_bits;
  if (tables.prepared_y == nullptr) return out;
  const column_model* const columns = tables.prepared_y->columns.get();
  if (columns == nullptr) return out | call_facts::prepared_y;
  const bool is_partial = columns->traits().removed > 0;
  return out | call_facts::prepared_y | (is_partial ? call_facts::covariates : call_facts::weights);
}

pair_call::pair_call(measure what, const pair_tables& tables, const pair_options& options,
                     unsigned meets)
    : columns_(find_columns(what, tables, checked(what, tables, options, meets))),
      request_{
          .what = with_p_method(find_traits(what, tables, options, columns_.get(), meets),
                                cols_of(tables.x), options, (meets & call_facts::without_p) == 0),
          .tables = tables,
          .part = options.part,
          .refuses_nan = options.nans == nan_policy::reject,
          .folding = options.fold,
          .variant = options.variant,
          .exec = options.exec} {
  if (!columns_) return;
  request_.tables.x = x_.emplace(tables.x, *columns_).view();
  if (tables.y) request_.tables.y = y_.emplace(*tables.y, *columns_).view();
}

}  // namespace gpu::inline v0::detail
