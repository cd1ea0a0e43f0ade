#include "pairs.hpp"

namespace gpu_python {

pair_call::pair_call(option_reader& reader) : context(reader) {
  reader.read("measure", what);
  reader.read("max_p", keep.max_p);
  reader.read("min_abs", keep.min_abs);
  reader.read("tail", keep.side);
  reader.read("adjust", keep.adjust);
  reader.read("nans", options.nans);
  reader.read("variant", options.variant);
  reader.read("fold", options.fold);
  options.exec = context.execution();
}

namespace {

// Most runs have none.
nb::object row_numbers(std::vector<gpu::index_t>&& rows) {
  return rows.empty() ? no_rows() : vector_to_numpy(std::move(rows));
}

}  // namespace

nb::tuple summary_tuple(gpu::pair_summary&& summary, gpu::index_t cols) {
  return nb::make_tuple(
      summary.rows, cols, row_numbers(std::move(summary.constant_rows)),
      row_numbers(std::move(summary.nan_rows)), summary.patterns, summary.pairs_tested,
      summary.pairs_kept, summary.max_p_effective, summary.min_abs_effective, summary.cut_at_least,
      summary.cut_at_most, gpu::to_string(summary.used), summary.device,
      gpu::to_string(summary.variant), summary.prepare_seconds, summary.pairs_seconds);
}

}  // namespace gpu_python
