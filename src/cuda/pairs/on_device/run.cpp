// A call whose input and results are in device memory: scratch, rows, cut, sink.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/edge_matrix.hpp"
#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/programs/statistic_search.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda/pairs/rows/row_products.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "pairs/adjustment.hpp"
#include "plan/forced/forced_ways.hpp"
#include "stats/significance/kendall_test.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::cuda {
namespace {

// The filter of a sink; a dense result has none.
template <class Sink>
pair_filter filter_of(const Sink& sink) {
  if constexpr (requires { sink.keep; }) {
    return sink.keep;
  } else {
    return {};
  }
}

std::unique_ptr<stream_sink> make_any_sink(const call_shape& shape,
                                           const detail::any_device_sink& sink, arena& memory) {
  return std::visit([&](const auto& asked) { return make_sink(shape, asked, memory); }, sink);
}

// Memory that a sink writes is the device's.
struct memory_checks {
  std::span<const int> devices;

  template <class View>
  void look(const char* name, const View& view) const {
    check_memory(name, view.empty() ? nullptr : view.data(), devices);
  }
  template <class Value>
  void operator()(const basic_device_dense_sink<Value>& sink) const {
    look("device_dense_sink.out", sink.out);
  }
  void operator()(const device_count_sink& sink) const {
    look("device_count_sink.degree", sink.degree);
    look("device_count_sink.y_degree", sink.y_degree);
    look("device_count_sink.histogram", sink.histogram);
    look("device_count_sink.totals", sink.totals);
  }
  void operator()(const device_edge_sink& sink) const {
    look("device_edge_sink.edges", sink.edges);
    look("device_edge_sink.found", sink.found);
  }
  void operator()(const device_top_k_sink& sink) const {
    look("device_top_k_sink.index", sink.index);
    look("device_top_k_sink.statistic", sink.statistic);
    look("device_top_k_sink.count", sink.count);
  }
};

std::size_t scratch_bytes_of(const call_shape& shape, const detail::any_device_sink& sink) {
  return bytes_taken([&](arena& memory) {
    memory.take<kernels::valid_rows>(1);  // what Bonferroni counts
    const std::unique_ptr<stream_sink> work = make_any_sink(shape, sink, memory);
    return stream_rows(shape, work->extra(), memory);
  });
}

// Exact statistics of unit rows are products of doubles, where there are any: a tile of doubles
// takes several times as long.
void prefer_products(row_format& format) {
  format.products |= format.tile == kernels::pair_tile_kind::tensor_float &&
                     detail::ways_in_force().cuda.products.value_or(true) &&
                     can_take_products(format, current_limits(), current_code().capability);
}

// The shape of a call whose scratch memory stays within the limit, where there is such a shape.
struct sized_shape {
  call_shape shape;
  std::size_t scratch_bytes;
};
sized_shape fit_shape(const detail::device_pair_call& call) {
  const std::size_t limit = call.input.exec.workspace_bytes;
  const call_shape first = shape_of(call, true);
  if (first.format.ready) {
    const std::size_t bytes = scratch_bytes_of(first, call.sink);
    if (limit == 0 || bytes <= limit) return {first, bytes};
  }
  sized_shape out{first.format.ready ? shape_of(call, false) : first, 0};
  if (std::holds_alternative<device_dense_sink_f32>(call.sink) &&
      takes_halves(out.shape.format, out.shape.variant, out.shape.area, current_limits())) {
    const row_format whole = out.shape.format;
    out.shape.format = half_row_format(whole.cols, whole.centre);
    out.scratch_bytes = scratch_bytes_of(out.shape, call.sink);
    if (limit == 0 || out.scratch_bytes <= limit) return out;
    out.shape.format = whole;
  }
  const auto* const best = std::get_if<device_top_k_sink>(&call.sink);
  if (best != nullptr &&
      choose_partner_way(out.shape, best->index.cols()) == partner_way::statistics) {
    row_format& format = out.shape.format;
    if (estimate_search::takes(out.shape, best->index.cols())) {
      // Unit rows are multiplied in single precision, ranks as they would be for statistics.
      const bool has_products = format.products;
      if (format.tile == kernels::pair_tile_kind::tensor_float) format.products = false;
      out.scratch_bytes = scratch_bytes_of(out.shape, call.sink);
      if (limit == 0 || out.scratch_bytes <= limit) return out;
      out.shape.estimates.reset();
      format.products = has_products;
    }
    prefer_products(format);  // whole rows of statistics are selected from
  }
  if (std::holds_alternative<device_dense_sink>(call.sink)) prefer_products(out.shape.format);
  if (const auto* const edges = std::get_if<device_edge_sink>(&call.sink)) {
    const row_format chosen = out.shape.format;
    prefer_products(out.shape.format);
    if (!edge_matrix::takes(out.shape)) {
      out.shape.format = chosen;
      out.shape.format.rounded &= is_screened(out.shape, *edges);
    }
  }
  out.scratch_bytes = scratch_bytes_of(out.shape, call.sink);
  if (limit != 0 && out.scratch_bytes > limit) {
    out.shape.has_room = false;
    if (!finishes_statistics(out.shape.format.tile)) out.shape.format.products = false;
    out.scratch_bytes = scratch_bytes_of(out.shape, call.sink);
  }
  return out;
}

void check_scratch(const execution& exec, std::size_t needed) {
  const std::size_t limit = exec.workspace_bytes;
  if (limit == 0 || needed <= limit) return;
  throw out_of_memory(fmt::format("execution.workspace_bytes: the call needs {} bytes of device "
                                  "memory, the limit is {}",
                                  needed, limit),
                      needed);
}

// Memory and stream are those of the device.
void check_places(const detail::device_pair_call& call, int device) {
  const int devices[] = {device};
  check_stream(call.input.exec, device);
  check_tables(call.input.tables, devices, call.input.exec);
  check_memory("options.workspace", call.workspace.data(), devices);
  std::visit(memory_checks{devices}, call.sink);
}

// The tests that Bonferroni's correction is for. Waits for the stream.
std::uint64_t read_family(const detail::device_pair_call& call, const stream_rows& rows,
                          kernels::valid_rows* memory, cudaStream_t stream) {
  const detail::pair_area whole =
      detail::area_of(call.input.tables, {}, detail::part_shape::equal_rows);
  kernels::launch_count_valid(rows.square_sums(), call.input.rows(), whole.rows, whole.cols, memory,
                              stream);
  return kernels::tested_pairs(read_back(memory, stream), whole.is_against());
}

// The cut of a filter; `memory` is for what Bonferroni counts. Where p depends on ties, `rows` drop
// pairs by their own p, and every statistic that is left is kept.
detail::effective_cut resolve(const detail::device_pair_call& call, const pair_filter& filter,
                              bool of_one_side, stream_rows& rows, kernels::valid_rows* memory,
                              cudaStream_t stream) {
  double max_p = filter.max_p;
  if (filter.adjust == adjustment::bonferroni) {
    const std::uint64_t family = read_family(call, rows, memory, stream);
    if (family > 0) max_p = filter.max_p / static_cast<double>(family);
  }
  const auto cut_of = [&](double critical) {
    const detail::effective_cut cut = detail::cut_from(critical, max_p, filter);
    return of_one_side ? detail::of_one_sign(cut, filter.side) : cut;
  };
  const index_t cols = call.input.cols();
  if (call.what.info.test != significance::kendall) {
    return cut_of(stats::critical_value(call.what.info.test, max_p, cols, filter.side));
  }
  const stats::kendall_test test(cols);
  const double any = stats::critical_value(significance::none, 1.0, cols, filter.side);
  rows.decide_by(stats::decide_by(stats::kendall_cut(test, max_p, filter.side), cut_of(any).keep));
  return {.max_p = max_p};
}

}  // namespace

std::size_t device_workspace_of(const detail::device_pair_call& call) {
  const device_guard guard(device_of(call.input.exec));
  return fit_shape(call).scratch_bytes;
}

detail::engine_plan plan_all_pairs_on_device(const detail::device_pair_call& call) {
  const std::vector<device_info> devices = select_devices(call.input.exec);
  const device_guard guard(devices.front().ordinal);
  const auto [shape, scratch_bytes] = fit_shape(call);
  const kernels::policy::tile_layout tile = tile_shape(shape.format.deciding_tile());
  return {.device = describe_devices(devices),
          .variant = shape.variant,
          .tile_rows = tile.rows,
          .tile_cols = tile.cols,
          .workspace_bytes = scratch_bytes,
          .warning = warn_of_compilation(devices)};
}

void all_pairs_on_device(const detail::device_pair_call& call) {
  const int device = device_of(call.input.exec);
  const device_guard guard(device);
  check_places(call, device);
  const pair_filter filter =
      std::visit([](const auto& sink) { return filter_of(sink); }, call.sink);
  if (filter.adjust == adjustment::bonferroni) {
    refuse_capture(call.input.exec, "pair_filter.adjust = bonferroni");
  }
  const cudaStream_t stream = call.input.exec.stream.get();
  const sized_shape sized = fit_shape(call);
  const call_shape& shape = sized.shape;
  const std::size_t needed = sized.scratch_bytes;
  check_scratch(call.input.exec, needed);
  const scratch memory(call.workspace, needed, stream);
  arena pieces(memory.data());
  auto* const valid = pieces.take<kernels::valid_rows>(1);
  const std::unique_ptr<stream_sink> work = make_any_sink(shape, call.sink, pieces);
  stream_rows rows(shape, work->extra(), pieces);
  if (shape.format.ready) work->take_ready(rows);
  rows.prepare(call.input.tables, work->zeros(), stream);
  detail::effective_cut cut{};
  if (!std::holds_alternative<device_dense_sink>(call.sink) &&
      !std::holds_alternative<device_dense_sink_f32>(call.sink)) {
    cut = resolve(call, filter, std::holds_alternative<device_top_k_sink>(call.sink), rows, valid,
                  stream);
  }
  work->run(rows, cut.keep, stream);
}

}  // namespace gpu::cuda
