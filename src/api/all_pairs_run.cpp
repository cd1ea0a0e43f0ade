#include "api/all_pairs_run.hpp"

#include <utility>
#include <variant>

#include <gpu/backend.hpp>

#include "api/arguments.hpp"
#include "pairs/checks.hpp"

namespace gpu::detail {

namespace {

std::unique_ptr<pair_engine> prepare(backend used, measure what, const any_matrix_view& data,
                                     const pair_options& options, folded_pair_engine*& folded) {
  std::unique_ptr<pair_engine> engine = used == backend::cuda
                                            ? cuda::make_pair_engine(what, data, options)
                                            : cpu::make_pair_engine(what, data, options);
  if (engine->folded() != nullptr) {
    auto around = std::make_unique<folded_pair_engine>(std::move(engine), options.exec);
    folded = around.get();
    engine = std::move(around);
  }
  // The device finds such rows while it prepares them, sooner than the host could read them all;
  // the CPU's engine refused them before it ranked any.
  if (used == backend::cuda) validate::refuse_nans(data, engine->rows().nan_rows, options.nans);
  return engine;
}

}  // namespace

backend checked_backend(measure what, const any_matrix_view& data, const pair_options& options) {
  check_nan_policy(options.nans, nan_policy::omit, "all pairs");
  check_enumerator("options.variant", options.variant, pair_variant::hopper);
  check_enumerator("options.fold", options.fold, row_folding::always);
  validate::check_pair_shape(what, data);
  return resolve_backend(options.exec);
}

pair_run::pair_run(measure what, const any_matrix_view& data, const pair_options& options)
    : used_(checked_backend(what, data, options)),
      engine_(prepare(used_, what, data, options, folded_)),
      pairs_start_(std::chrono::steady_clock::now()) {}

keep_range pair_run::resolve(const pair_filter& filter) {
  cut_ = stats::resolve_cut(filter, *engine_);
  return cut_.keep;
}

std::uint64_t pair_run::pairs_tested() const {
  return stats::tested_pairs(engine_->rows());
}

pair_summary pair_run::finish(std::uint64_t pairs_kept) const {
  const prepared_rows& rows = engine_->rows();
  return {.rows = rows.rows,
          .cols = rows.cols,
          .constant_rows = rows.constant_rows,
          .nan_rows = rows.nan_rows,
          .patterns = folded_ != nullptr ? folded_->folded()->patterns.size() : 0,
          .pairs_tested = pairs_tested(),
          .pairs_kept = pairs_kept,
          .max_p_effective = cut_.max_p,
          .min_abs_effective = cut_.min_abs,
          .cut_at_least = cut_.keep.at_least,
          .cut_at_most = cut_.keep.at_most + 0.0,  // no -0
          .used = used_,
          .device = engine_->device(),
          .variant = engine_->variant(),
          .prepare_seconds = rows.seconds,
          .pairs_seconds = seconds_since(pairs_start_)};
}

}  // namespace gpu::detail
