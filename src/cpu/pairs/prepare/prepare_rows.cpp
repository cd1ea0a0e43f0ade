// Which rows a measure takes.
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/ranks/rank_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/unit/unit_pairs.hpp"

namespace gpu::cpu {

std::size_t double_scratch_bytes(const detail::measure_traits& what, index_t cols) {
  if (what.is_pairwise) return 0;
  const index_t packed_cols = what.packed_cols(cols);
  switch (what.form) {
    case detail::row_form::ranks: {
      constexpr bool has_int8_sums = false;  // the same form for rows so long
      const cpu_row_form form = choose_cpu_rank_form(packed_cols, has_int8_sums);
      return form == cpu_row_form::wide ? wide_rank_scratch_bytes(packed_cols) : 0;
    }
    case detail::row_form::unit_values:
      return unit_scratch_bytes(packed_cols);
    case detail::row_form::signs:
    case detail::row_form::bits:
      break;
  }
  return 0;
}

row_preparation prepare_rows(const detail::pair_tables& tables, const row_options& options) {
  if (options.what.is_pairwise) return prepare_pairwise_rows(tables, options);
  switch (options.what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return prepare_rank_rows(tables, options);
    case detail::row_form::unit_values:
      return prepare_unit_rows(tables, options);
    case detail::row_form::bits:
      break;
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
    case detail::row_form::bits:
      break;
  }
}

}  // namespace gpu::cpu
