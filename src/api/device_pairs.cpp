// All pairs whose results stay in device memory: checks the call, and hands it to the device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>

#include <gpu/device_sinks.hpp>
#include <gpu/error.hpp>
#include <gpu/plan.hpp>

#include "api/all_pairs_run.hpp"
#include "api/arguments.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/on_device.hpp"
#include "pairs/tables.hpp"
#include "stats/bins.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t result_totals = 3;

template <class Value>
void check_matrix(const char* name, const device_matrix_view<Value>& view, index_t rows,
                  index_t cols) {
  if (view.rows() == rows && view.cols() == cols) return;
  throw invalid_argument(fmt::format("{}: got [{}, {}], expected [{}, {}]", name, view.rows(),
                                     view.cols(), rows, cols));
}

template <class Value>
void check_vector(const char* name, const device_vector_view<Value>& view, index_t size) {
  if (view.size() == size) return;
  throw invalid_argument(fmt::format("{}: got {} elements, expected {}", name, view.size(), size));
}

byte_extent extent_of(const device_table_view& view) {
  const index_t size = size_of(view.type());
  if (view.empty()) return {};
  if (lies_as_read(view)) {
    return {view.data(), view.rows(), view.cols() * size, view.row_stride() * size};
  }
  const index_t down = (view.rows() - 1) * view.row_stride();
  const index_t across = (view.cols() - 1) * view.col_stride();
  const index_t first = std::min<index_t>(down, 0) + std::min<index_t>(across, 0);
  const index_t bytes = (std::abs(down) + std::abs(across) + 1) * size;
  return {static_cast<const std::byte*>(view.data()) + first * size, 1, bytes, bytes};
}

// What a sink writes must not be what is read.
template <class Value>
void check_apart(const char* name, const device_matrix_view<Value>& out,
                 const pair_tables& tables) {
  const auto check = [&](const any_table& table) {
    if (may_overlap(bytes_of(out), extent_of(device_view(table)))) {
      throw invalid_argument(fmt::format("{}: overlaps the data", name));
    }
  };
  check(tables.x);
  if (tables.y) check(*tables.y);
}

// The checks of each sink for the input of a call.
struct sink_checks {
  const measure_traits& what;
  const pair_input& input;

  template <class Value>
  void operator()(const basic_device_dense_sink<Value>& sink) const {
    check_matrix("device_dense_sink.out", sink.out, input.area.rows.size(), input.area.cols.size());
    check_apart("device_dense_sink.out", sink.out, input.tables);
  }
  void operator()(const device_top_k_sink& sink) const {
    validate::check_filter(what, sink.keep);
    check_enumerator("device_top_k_sink.order", sink.order, neighbor_order::by_absolute_value);
    const index_t rows = input.area.rows.size();
    const index_t k = sink.index.cols();
    if (k < 1) {
      throw invalid_argument(
          fmt::format("device_top_k_sink.index: got {} columns, expected at least 1", k));
    }
    check_matrix("device_top_k_sink.index", sink.index, rows, k);
    check_matrix("device_top_k_sink.statistic", sink.statistic, rows, k);
    check_vector("device_top_k_sink.count", sink.count, rows);
    check_apart("device_top_k_sink.index", sink.index, input.tables);
    check_apart("device_top_k_sink.statistic", sink.statistic, input.tables);
  }
  void operator()(const device_count_sink& sink) const {
    validate::check_filter(what, sink.keep);
    if (!sink.degree.empty()) {
      check_vector("device_count_sink.degree", sink.degree, input.rows_of_x());
    }
    if (!sink.y_degree.empty()) {
      check_vector("device_count_sink.y_degree", sink.y_degree, input.rows_of_y());
    }
    if (!sink.totals.empty()) check_vector("device_count_sink.totals", sink.totals, result_totals);
    if (sink.histogram.size() > detail::most_bins) {
      throw invalid_argument(
          fmt::format("device_count_sink.histogram: got {} elements, expected "
                      "0 to {}",
                      sink.histogram.size(), detail::most_bins));
    }
  }
  void operator()(const device_edge_sink& sink) const {
    validate::check_filter(what, sink.keep);
    if (what.info.test == significance::kendall) {
      throw unsupported(
          "device_edge_sink: p of Kendall depends on the ties of both rows and is computed on the "
          "host, expected edge_sink or stream_sink");
    }
    if (sink.edges.empty()) {
      throw invalid_argument("device_edge_sink.edges: got a capacity of 0, expected at least 1");
    }
    check_vector("device_edge_sink.found", sink.found, 1);
  }
};

// Parts are cut as for the host results of the same name.
part_shape shape_of_parts(const any_device_sink& sink) {
  const bool pairs = std::holds_alternative<device_count_sink>(sink) ||
                     std::holds_alternative<device_edge_sink>(sink);
  return pairs ? part_shape::equal_pairs : part_shape::equal_rows;
}

// use(call) of a call that was checked.
template <class Use>
auto with_call(measure what, const pair_tables& tables, const pair_options& options,
               any_device_sink sink, const Use& use) {
  const unsigned asked = std::visit(
      []<class Sink>(const Sink& each) -> unsigned {
        if constexpr (requires { each.keep; }) return facts_of(each.keep);
        return call_facts::none;
      },
      sink);
  const pair_call resolved(what, tables, options,
                           call_facts::device_results | call_facts::without_p | asked);
  const pair_request& request = resolved.request();
  static_cast<void>(checked_backend(request));
  if (request.exec.devices.size() > 1) {
    throw unsupported(
        fmt::format("execution.devices: got {}, expected one device for results in device memory",
                    request.exec.devices.size()));
  }
  const pair_input input = input_of(request, shape_of_parts(sink), fold_scope::never);
  std::visit(sink_checks{request.what, input}, sink);
  if (auto* const best = std::get_if<device_top_k_sink>(&sink)) {
    best->order = order_of_tail(best->order, best->keep.side);
  }
  return use(device_pair_call{request.what, input, options.workspace, sink});
}

}  // namespace

void all_pairs_on_device(measure what, const pair_tables& tables, const pair_options& options,
                         const any_device_sink& sink) {
  with_memory_errors("all pairs", [&] {
    with_call(what, tables, options, sink, [&](const device_pair_call& call) {
      if (!call.workspace.empty()) {
        check_workspace(call.workspace, cuda::device_workspace_of(call));
      }
      cuda::all_pairs_on_device(call);
    });
  });
}

pair_plan plan_all_pairs_on_device(measure what, const pair_tables& tables,
                                   const pair_options& options, const any_device_sink& sink) {
  return with_memory_errors("plan_all_pairs", [&] {
    return with_call(what, tables, options, sink, [](const device_pair_call& call) {
      const engine_plan engine = cuda::plan_all_pairs_on_device(call);
      return pair_plan{.used = backend::cuda,
                       .device = engine.device,
                       .variant = engine.variant,
                       .tile_rows = engine.tile_rows,
                       .tile_cols = engine.tile_cols,
                       .workspace_bytes = engine.workspace_bytes,
                       .choice = "every pair is decided by tiles",
                       .pairs = pairs_in(call.input.area),
                       .warning = engine.warning};
    });
  });
}

}  // namespace gpu::inline v0::detail
