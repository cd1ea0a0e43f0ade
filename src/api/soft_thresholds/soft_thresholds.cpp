// Soft-threshold networks: connectivity, scale-free fits, topological overlap.
#include <vector>

#include <gpu/connectivity.hpp>
#include <gpu/error.hpp>
#include <gpu/matmul.hpp>

#include "api/all_pairs_run.hpp"
#include "base/check_enumerator.hpp"
#include "base/memory_errors.hpp"
#include "pairs/tables.hpp"
#include "soft_thresholds/checks.hpp"
#include "soft_thresholds/networks.hpp"
#include "stats/soft_power.hpp"

namespace gpu::inline v0 {

std::string_view to_string(network_kind kind) noexcept {
  return detail::name_in(kind, {"unsigned", "signed", "signed_hybrid"});
}

namespace detail {

connectivity_table run_all_pairs(const pair_request& request, const connectivity_sink& sink) {
  validate::check_sink(sink);
  if (has_y(request.tables)) {
    throw unsupported("connectivity_sink: got x against y, expected one table");
  }
  pair_run run(request, part_shape::equal_rows, fold_scope::never);
  const index_range panel = run.area().rows;
  connectivity_table out{
      .powers = sink.powers,
      .network = sink.network,
      .connectivity = matrix<double>(panel.size(), static_cast<index_t>(sink.powers.size())),
      .summary = {}};
  const std::vector<stats::power_step> steps = stats::power_steps(sink.powers);
  run.engine().connectivity({.network = sink.network, .steps = steps}, out.connectivity.view());
  soft_thresholds::mark_rows(run.engine().rows(), panel, out.connectivity);
  out.summary = run.finish(run.pairs_tested());
  return out;
}

}  // namespace detail

scale_free_fits scale_free_fit(matrix_view<const double> connectivity,
                               const std::vector<double>& powers,
                               const scale_free_options& options) {
  return detail::with_memory_errors("scale_free_fit", [&] {
    validate::check_connectivity(connectivity, powers, options);
    return soft_thresholds::fit_columns(connectivity, powers, options);
  });
}

matrix<double> topological_overlap(matrix_view<const double> statistics,
                                   const overlap_options& options) {
  return detail::with_memory_errors("topological_overlap", [&] {
    validate::check_overlap(statistics, options);
    const matrix<double> adjacency = soft_thresholds::adjacencies(statistics, options);
    matrix<double> out = matmul(adjacency, adjacency, {.exec = options.exec});
    soft_thresholds::finish_overlap(statistics, adjacency, out);
    return out;
  });
}

}  // namespace gpu::inline v0
