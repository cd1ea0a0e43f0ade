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

nb::tuple summary_tuple(gpu::pair_summary&& summary, gpu::index_t cols) {
  const std::size_t constant = summary.constant_rows.size();
  const std::size_t missing = summary.nan_rows.size();
  return nb::make_tuple(
      summary.rows, cols, to_numpy<gpu::index_t>(std::move(summary.constant_rows), {constant}),
      to_numpy<gpu::index_t>(std::move(summary.nan_rows), {missing}), summary.patterns,
      summary.pairs_tested, summary.pairs_kept, summary.max_p_effective, summary.min_abs_effective,
      gpu::to_string(summary.used), summary.device, summary.variant, summary.prepare_seconds,
      summary.pairs_seconds);
}

}  // namespace gpu_python
