// Which rows a measure takes.
#include "cpu/pairs/rows/pair_rows.hpp"

namespace gpu::cpu {

row_preparation prepare_rows(const detail::pair_tables& tables, const row_options& options) {
  switch (options.what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return prepare_rank_rows(tables, options);
    case detail::row_form::unit_values:
      return prepare_unit_rows(tables, options);
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
    case detail::row_form::shared_signs:
      return prepare_pairwise_rows(tables, options);
  }
  return {};
}

void keep_rows(const input_rows& input, const detail::measure_traits& what, pair_variant variant,
               int threads, kept_rows& out) {
  switch (what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return keep_rank_rows(input, variant, threads, out);
    case detail::row_form::unit_values:
      return keep_unit_rows(input, what, threads, out);
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
    case detail::row_form::shared_signs:
      return;  // refused by prepare_rows
  }
}

}  // namespace gpu::cpu
