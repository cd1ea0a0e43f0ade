// Differential correlation: checks, and the statistics of all pairs for src/pairs/differential.
#include <gpu/differential.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <variant>

#include <gpu/detail/option_rules.hpp>
#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "base/parallel.hpp"
#include "pairs/area.hpp"
#include "pairs/checks.hpp"
#include "pairs/differential/difference_discoveries.hpp"
#include "pairs/differential/difference_sinks.hpp"
#include "pairs/differential/difference_walk.hpp"
#include "pairs/differential/group_checks.hpp"
#include "pairs/measures/measures.hpp"
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
  constexpr index_t least = 4;
  const double variance = detail::z_variance_of(what);
  if (std::min(first_cols, second_cols) < least) {
    throw invalid_argument(
        fmt::format("first_cols, second_cols: got {} and {}, expected at least {}", first_cols,
                    second_cols, least));
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

// What one part cannot decide, and how the parts of a sink are cut.
part_shape checked_shape(const differential_filter& keep, const pair_part& part, part_shape shape) {
  if (keep.adjust == adjustment::benjamini_hochberg && part.of > 1) {
    throw unsupported(
        "differential_filter.adjust: benjamini_hochberg cannot be decided from one part of a job "
        "(options.part), expected none or bonferroni");
  }
  return shape;
}

// The statistics on a backend, with options that were checked; on the CPU by its all pairs, which
// are called for blocks, whole ones.
statistics_maker maker_of(const measure_traits& what, pair_options options, backend where) {
  if (where == backend::cuda) {
    return {.look_at = {},
            .fill = {},
            .on_device = [&what, options](matrix_view<const double> first,
                                          matrix_view<const double> second) {
              return cuda::make_difference_engine(what, first, second, options);
            }};
  }
  options.exec.target = backend::cpu;
  options.exec.on_progress = {};
  options.fold = row_folding::never;
  options.nans = nan_policy::propagate;
  options.part = {};
  return {.look_at =
              [&what, options](matrix_view<const double> rows) {
                pair_run run(what, {rows}, options, part_shape::equal_pairs);
                const row_info& found = run.engine().rows();
                return rows_without_statistic{.constant = found.constant_rows,
                                              .with_nan = found.nan_rows,
                                              .device = std::string(run.engine().device())};
              },
          .fill =
              [&what, options](matrix_view<const double> x, matrix_view<const double> y,
                               matrix_view<double> out) {
                pair_tables tables{x};
                if (x.data() != y.data()) tables.y = y;
                pair_run run(what, tables, options, part_shape::equal_rows);
                run.engine().dense(out);
              },
          .on_device = {}};
}

// find(walk) of a call whose parts are of that shape.
template <class Find>
auto walk_over(measure of, const any_table& data, const column_groups& groups,
               const pair_options& options, part_shape shape, const Find& find) {
  const measure_traits& what = traits_of(of);
  check_pair_options(of, options, call_facts::differences);
  check_groups(groups, std::visit([](const auto& view) { return view.cols(); }, data));
  const double standard_error =
      differential_standard_error(of, std::ssize(groups.first), std::ssize(groups.second));
  const backend where = checked_backend(what, {data}, options, any_passes);
  const pair_area area = area_of({data}, options.part, shape);
  const bool is_on_host = where == backend::cpu;
  const std::size_t limit = is_on_host ? options.exec.workspace_bytes : 0;
  const index_t group_cols = std::ssize(groups.first) + std::ssize(groups.second);
  const block_shape shape_of_blocks =
      is_on_host ? block_shape_of(area, group_cols, limit) : block_shape{};
  const walk_settings settings{.nans = options.nans,
                               .threads = detail::thread_count(options.exec.cpu_threads),
                               .on_progress = options.exec.on_progress,
                               .standard_error = standard_error,
                               .block_rows = shape_of_blocks.rows};
  if (is_on_device(data)) {
    return find(difference_walk(groups, area, settings,
                                cuda::make_difference_engine(what, data, groups, options)));
  }
  if (limit == 0) {
    return find(difference_walk(data, groups, area, settings, maker_of(what, options, where)));
  }
  pair_options within = options;
  within.exec.workspace_bytes = limit > shape_of_blocks.bytes ? limit - shape_of_blocks.bytes : 1;
  try {
    return find(difference_walk(data, groups, area, settings, maker_of(what, within, where)));
  } catch (const out_of_memory& error) {
    // Twice: with more memory blocks may have more rows.
    const std::size_t needed = 2 * (shape_of_blocks.bytes + error.requested_bytes());
    throw out_of_memory(
        fmt::format("options.exec.workspace_bytes: got {}, blocks of {} rows need at least {}",
                    limit, shape_of_blocks.rows, needed),
        needed);
  }
}

// Tells the rows with an infinite value in a group from those that are constant there.
void name_infinite(measure of, const any_table& data, const column_groups& groups,
                   const pair_options& options, differential_summary& summary) {
  std::vector<index_t> columns(groups.first.begin(), groups.first.end());
  columns.insert(columns.end(), groups.second.begin(), groups.second.end());
  summary.infinite_rows =
      validate::take_infinite(info_of(of), data, summary.constant_rows, options.exec, columns);
}

// The same for a result that has its time.
template <class Find>
auto timed(measure of, const any_table& data, const column_groups& groups,
           const pair_options& options, part_shape shape, const Find& find) {
  const auto start = std::chrono::steady_clock::now();
  auto out = walk_over(of, data, groups, options, shape, find);
  name_infinite(of, data, groups, options, out.summary);
  out.summary.seconds = seconds_since(start);
  return out;
}

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
    const part_shape shape = checked_shape(sink.keep, options.part, part_shape::equal_pairs);
    return timed(what, data, groups, options, shape,
                 [&](const difference_walk& walk) { return find_differences(walk, sink); });
  });
}

differential_partners differential_pairs(measure what, const any_table& data,
                                         const column_groups& groups, const pair_options& options,
                                         const differential_top_k_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    check_sink(sink);
    const part_shape shape = checked_shape(sink.keep, options.part, part_shape::equal_rows);
    return timed(what, data, groups, options, shape,
                 [&](const difference_walk& walk) { return find_partners(walk, sink); });
  });
}

differential_counts differential_pairs(measure what, const any_table& data,
                                       const column_groups& groups, const pair_options& options,
                                       const differential_count_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    check_sink(sink.keep);
    const part_shape shape = checked_shape(sink.keep, options.part, part_shape::equal_pairs);
    return timed(what, data, groups, options, shape,
                 [&](const difference_walk& walk) { return count_differences(walk, sink.keep); });
  });
}

discovery_counts differential_pairs(measure what, const any_table& data,
                                    const column_groups& groups, const pair_options& options,
                                    const discovery_sink& sink) {
  return with_memory_errors("differential_pairs", [&] {
    const auto start = std::chrono::steady_clock::now();
    validate::check_filter(traits_of(what), {.max_p = sink.keep.max_p, .side = sink.keep.side});
    return walk_over(
        what, data, groups, options, part_shape::equal_pairs, [&](const difference_walk& walk) {
          const discovery_search begun = begin_search(walk, sink.keep.max_p, sink.keep.side);
          const discovery_search search = sink.search.value_or(begun);
          validate::check_search(search, begun);
          discovery_counts out = count_discoveries(walk, search);
          const index_t cols = std::visit([](const auto& view) { return view.cols(); }, data);
          differential_summary found = walk.summary();
          name_infinite(what, data, groups, options, found);
          out.summary = summary_of(std::move(found), cols,
                                   walk.on_device() != nullptr ? backend::cuda : backend::cpu,
                                   seconds_since(start));
          return out;
        });
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
