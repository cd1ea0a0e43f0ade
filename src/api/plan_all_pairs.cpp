// What an all-pairs call would run and keep, from its shape and a sample of its rows.
#include <gpu/plan.hpp>

#include <vector>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/sample.hpp"
#include "pairs/tables.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

double share_of(double valid, index_t rows) {
  return rows == 0 ? 0.0 : valid / static_cast<double>(rows);
}

// Counts the pairs of a sample of rows: of a table, or of the rows of x that the call is about and
// of y.
sample_result count_sample(const measure_traits& what, const pair_input& input,
                           const pair_options& options, const pair_filter& keep) {
  pair_options sample_options = options;
  sample_options.exec.target = backend::cpu;
  sample_options.exec.on_progress = {};
  sample_options.part = {};
  sample_options.variant = pair_variant::automatic;
  if (!is_pairwise(what)) {
    sample_options.nans = nan_policy::propagate;  // the whole input was checked before
  }

  const index_t rows_of_x = input.rows_of_x();
  const bool is_against = input.tables.y.has_value();
  const table_sample x =
      draw_rows(input.tables.x, is_against ? input.area.rows : index_range{0, rows_of_x});
  pair_tables tables{x.rows};
  table_sample y;
  if (is_against) {
    y = draw_rows(*input.tables.y, {0, input.rows_of_y()});
    tables.y = y.rows;
  }
  pair_run run(what, tables, sample_options, part_shape::equal_pairs);
  const auto valid_of = [](const std::vector<index_t>& constant, const std::vector<index_t>& nans,
                           const any_table& table) {
    return static_cast<double>(rows_of(table)) - static_cast<double>(constant.size() + nans.size());
  };
  sample_result out;
  const pair_summary summary = run.finish(0);
  out.valid_x = valid_of(summary.constant_rows, summary.nan_rows, x.rows);
  const double all_x = share_of(out.valid_x, rows_of(x.rows)) * static_cast<double>(rows_of_x);
  out.family = pairs_of(all_x);
  out.is_all = x.is_all() && (is_against || input.area.is_whole_table());
  if (is_against) {
    out.valid_y = valid_of(summary.y_constant_rows, summary.y_nan_rows, y.rows);
    out.family =
        all_x * share_of(out.valid_y, rows_of(y.rows)) * static_cast<double>(input.rows_of_y());
    out.is_all = out.is_all && y.is_all();
  }
  out.keep = run.resolve(sample_filter(keep, out.family));
  out.counts.tested = run.pairs_tested();
  run.engine().counts({.keep = out.keep, .histogram_bins = 0, .cuts = run.cuts()}, out.counts);
  if (!is_pairwise(what)) out.cut = count_candidates(run.engine(), what, out.keep, out.counts);
  out.choice = cpu::explain_edges(run.packed_engine(), out.keep);
  if (is_against) {
    const auto first_of_y = out.counts.degree.begin() + rows_of(x.rows);
    out.counts.y_degree.assign(first_of_y, out.counts.degree.end());
    out.counts.degree.erase(first_of_y, out.counts.degree.end());
  }
  return out;
}

}  // namespace

pair_plan plan_all_pairs(measure of, const pair_tables& tables, const pair_options& options,
                         const pair_filter& keep) {
  return with_memory_errors("plan_all_pairs", [&] {
    const measure_traits& what = traits_of_call(of, tables, options);
    validate::check_filter(what, keep);
    const backend used = checked_backend(what, tables, options);
    validate::check_nans(tables, options.nans, options.exec.cpu_threads);
    const pair_input input{.tables = tables,
                           .area = area_of(tables, options.part, part_shape::equal_pairs),
                           .pairs_above = true};
    const engine_plan engine = used == backend::cuda ? cuda::plan_pair_engine(what, input, options)
                                                     : cpu::plan_pair_engine(what, input, options);
    pair_plan out{.used = used,
                  .device = engine.device,
                  .variant = engine.variant,
                  .tile_rows = engine.tile_rows,
                  .tile_cols = engine.tile_cols,
                  .workspace_bytes = engine.workspace_bytes,
                  .pairs = pairs_in(input.area)};

    if (is_on_device(tables)) {
      out.choice = "decided by the call: rows in device memory are not looked at beforehand";
      return out;
    }
    const sample_result sample = count_sample(what, input, options, keep);
    if (engine.variant == pair_variant::hopper) {
      out.choice = explain_screen(what, sample.keep, input.cols(), screen_use::edges, sample.cut);
    } else if (used == backend::cuda || engine.variant == pair_variant::naive) {
      out.choice = "every pair is decided: this variant has no screen";
    } else {
      out.choice = sample.choice;
    }
    const auto job_pairs =
        static_cast<double>(pairs_in(area_of(tables, {}, part_shape::equal_pairs)));
    fill_estimates(sample, job_pairs > 0 ? static_cast<double>(out.pairs) / job_pairs : 0.0, out);
    return out;
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
