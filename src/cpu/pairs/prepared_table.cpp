// Tables that are prepared for several calls on the CPU: ranked or scaled once.
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "pairs/progress.hpp"
#include "plan/pair_variants.hpp"

namespace gpu::cpu {

std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request& request) {
  const auto start = std::chrono::steady_clock::now();
  const detail::measure_traits& what = request.what;
  const detail::pair_tables tables{.x = request.tables.x};
  const input_rows input(tables);
  detail::pair_progress meter(request.exec.on_progress, "prepare",
                              static_cast<std::uint64_t>(input.rows()));
  const detail::poll_scope polled(&meter);
  const int threads = detail::thread_count(request.exec.cpu_threads);
  auto out = std::make_shared<kept_rows>();
  out->nan_rows = validate::find_nan_rows(tables, threads);
  if (request.refuses_nan) validate::refuse_nan(tables, out->nan_rows, {});
  out->what = what.info.what;
  out->rows = input.rows();
  out->cols = input.cols();
  out->device = "cpu";
  out->variant = detail::choose_pair_variant(backend::cpu, request.variant,
                                             {.rows = out->rows, .cols = out->cols});
  keep_rows(input, what, out->variant, threads, *out);
  row_preparation found;
  found.nan_rows = out->nan_rows;
  row_inspector(found).look_at(input_rows({.x = out->view}), {0, out->rows}, of_kept_rows(what),
                               threads, [](index_t) {});
  out->constant_rows = std::move(found.constant_rows);
  meter.finish();
  out->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace gpu::cpu
