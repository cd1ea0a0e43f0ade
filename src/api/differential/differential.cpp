// Differential correlation: checks, and the statistics of all pairs for src/pairs/differential.
#include <gpu/differential.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/differential/difference_sinks.hpp"
#include "pairs/differential/difference_walk.hpp"
#include "pairs/tables.hpp"
#include "stats/correlation_difference.hpp"

namespace gpu::inline v0 {
namespace {

void check_correlation(const char* name, double r) {
  if (r < -1.0 || r > 1.0) {
    throw invalid_argument(fmt::format("{}: got {}, expected a correlation in [-1, 1]", name, r));
  }
}

}  // namespace

double differential_standard_error(measure what, index_t first_cols, index_t second_cols) {
  const double variance = detail::z_variance_of(what);
  if (std::min(first_cols, second_cols) < detail::least_group_cols) {
    throw invalid_argument(
        fmt::format("first_cols, second_cols: got {} and {}, expected at least {}", first_cols,
                    second_cols, detail::least_group_cols));
  }
  return std::sqrt(variance / static_cast<double>(first_cols - 3) +
                   variance / static_cast<double>(second_cols - 3));
}

double differential_z(double first, double second, double standard_error) {
  check_correlation("first", first);
  check_correlation("second", second);
  if (!(standard_error > 0)) {
    throw invalid_argument(
        fmt::format("standard_error: got {}, expected a number above 0", standard_error));
  }
  return stats::transformed_difference(first, second) / standard_error;
}

namespace detail {
namespace {

// What one part cannot decide.
void check_adjustment(const differential_filter& keep, const pair_part& part) {
  if (keep.adjust == adjustment::benjamini_hochberg && part.of > 1) {
    throw unsupported(
        "differential_filter.adjust: benjamini_hochberg cannot be decided from one part of a job "
        "(options.part), expected none or bonferroni");
  }
}

// The statistics on a backend; on the CPU by its all pairs, which are called for blocks.
statistics_maker maker_of(pair_request blocks, backend where) {
  if (where == backend::cuda) {
    return {.on_device = [=](const std::array<column_group, 2>& groups) {
      return cuda::make_difference_engine(blocks.what, groups, blocks.variant, blocks.exec);
    }};
  }
  blocks.exec.target = backend::cpu;
  blocks.exec.on_progress = {};
  blocks.refuses_nan = false;
  blocks.part = {};
  return {.look_at =
              [blocks](const any_table& rows) mutable {
                blocks.tables = {rows};
                pair_run run(blocks, part_shape::equal_pairs, fold_scope::never);
                const row_info& found = run.engine().rows();
                return rows_without_statistic{.constant = found.constant_rows,
                                              .with_nan = found.nan_rows,
                                              .device = run.engine().device()};
              },
          .fill =
              [blocks](const pair_tables& tables, matrix_view<double> out) mutable {
                blocks.tables = tables;
                pair_run run(blocks, part_shape::equal_rows, fold_scope::never);
                run.engine().dense(out);
              }};
}

// A call that is under way.
struct differential_call {
  measure of;
  const any_table& data;
  const column_groups& groups;
  const pair_options& options;

  // find(walk) of a call whose parts are of that shape. Its summary gets the rows with an infinite
  // value in a group, which are constant there too.
  template <class Find>
  auto walk(part_shape shape, const Find& find) const {
    const pair_call call(of, {data}, options, call_facts::differences | call_facts::without_p);
    pair_request request = call.request();
    const index_t first_cols = std::ssize(groups.first);
    const index_t second_cols = std::ssize(groups.second);
    check_groups(groups, cols_of(data));
    const double error = differential_standard_error(of, first_cols, second_cols);
    const backend where = checked_backend(request, any_passes);
    const pair_area area = area_of({data}, request.part, shape);
    const std::size_t limit = where == backend::cpu ? request.exec.workspace_bytes : 0;
    const block_shape blocks = block_shape_of(area, first_cols + second_cols, limit);
    const walk_settings settings{.refuses_nan = request.refuses_nan,
                                 .exec = request.exec,
                                 .standard_error = error,
                                 .block_rows = blocks.rows};
    if (limit > 0) request.exec.workspace_bytes = limit > blocks.bytes ? limit - blocks.bytes : 1;
    try {
      return find(difference_walk(data, groups, area, settings, maker_of(request, where)));
    } catch (const out_of_memory& lacking) {
      if (limit == 0) throw;
      // Twice: with more memory blocks may have more rows.
      const std::size_t needed = 2 * (blocks.bytes + lacking.requested_bytes());
      throw out_of_memory(
          fmt::format("options.exec.workspace_bytes: got {}, blocks of {} rows need at least {}",
                      limit, blocks.rows, needed),
          needed);
    }
  }
  // The rows with an infinite value in a group are no constant ones.
  void name_infinite(differential_summary& summary) const {
    std::vector<index_t> columns(groups.first.begin(), groups.first.end());
    columns.insert(columns.end(), groups.second.begin(), groups.second.end());
    summary.infinite_rows =
        validate::take_infinite(info_of(of), data, summary.constant_rows, options.exec, columns);
  }
  // The result of a sink of pairs.
  template <class Find>
  auto result(const differential_filter& keep, part_shape shape, const Find& find) const {
    const auto start = std::chrono::steady_clock::now();
    check_adjustment(keep, options.part);
    auto out = walk(shape, find);
    name_infinite(out.summary);
    out.summary.seconds = seconds_since(start);
    return out;
  }
};

// What a counting pass did, as the summary of all pairs says it.
pair_summary summary_of(differential_summary found, index_t cols, backend used, double seconds) {
  return {.rows = found.rows,
          .cols = cols,
          .constant_rows = std::move(found.constant_rows),
          .nan_rows = std::move(found.nan_rows),
          .infinite_rows = std::move(found.infinite_rows),
          .part_begin = found.part_begin,
          .part_end = found.part_end,
          .pairs_tested = found.pairs_tested,
          .used = used,
          .device = std::move(found.device),
          .pairs_seconds = seconds};
}

}  // namespace

differential_edges differential_pairs(measure what, const any_table& data,
                                      const column_groups& groups, const pair_options& options,
                                      const differential_edge_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    check_sink(sink);
    return differential_call{what, data, groups, options}.result(
        sink.keep, part_shape::equal_pairs,
        [&](const difference_walk& walk) { return find_differences(walk, sink); });
  });
}

differential_partners differential_pairs(measure what, const any_table& data,
                                         const column_groups& groups, const pair_options& options,
                                         const differential_top_k_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    check_sink(sink);
    return differential_call{what, data, groups, options}.result(
        sink.keep, part_shape::equal_rows,
        [&](const difference_walk& walk) { return find_partners(walk, sink); });
  });
}

differential_counts differential_pairs(measure what, const any_table& data,
                                       const column_groups& groups, const pair_options& options,
                                       const differential_count_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    check_sink(sink.keep);
    return differential_call{what, data, groups, options}.result(
        sink.keep, part_shape::equal_pairs,
        [&](const difference_walk& walk) { return count_differences(walk, sink.keep); });
  });
}

discovery_counts differential_pairs(measure what, const any_table& data,
                                    const column_groups& groups, const pair_options& options,
                                    const discovery_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    const auto start = std::chrono::steady_clock::now();
    validate::check_filter(traits_of(what), {.max_p = sink.keep.max_p, .side = sink.keep.side});
    const differential_call call{what, data, groups, options};
    return call.walk(part_shape::equal_pairs, [&](const difference_walk& walk) {
      const discovery_search begun = begin_search(walk, sink.keep.max_p, sink.keep.side);
      const discovery_search search = sink.search.value_or(begun);
      validate::check_search(search, begun);
      discovery_counts out = count_discoveries(walk, search);
      differential_summary found = walk.summary();
      call.name_infinite(found);
      out.summary = summary_of(std::move(found), cols_of(data),
                               walk.on_device() != nullptr ? backend::cuda : backend::cpu,
                               seconds_since(start));
      return out;
    });
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
