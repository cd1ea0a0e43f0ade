// The largest statistics of tables whose columns are shuffled, and the cut that follows from them.
#include <gpu/max_t.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/check_enumerator.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "pairs/max_t_search.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0 {

double max_t_null::adjusted_p(double statistic) const {
  return detail::max_t_p(maxima, side, statistic);
}

std::vector<double> max_t_null::adjusted_p(std::span<const edge> edges) const {
  return detail::max_t_p(maxima, side, edges);
}

double max_t_null::cut(double level) const {
  const double least = detail::least_max_t_p(maxima.size());
  if (!(level <= 1.0 && level >= least) || maxima.empty()) {
    throw invalid_argument(
        fmt::format("level: got {}, expected from {:.6g} to 1: with {} permutations no adjusted p "
                    "is smaller than 1 / {}",
                    level, least, maxima.size(), maxima.size() + 1));
  }
  return detail::max_t_cut(maxima, side, level);
}

pair_filter max_t_null::keep(double level) const {
  const double least = cut(level);
  // 0 would be no cut, and a one-sided filter has no other sign.
  constexpr double above_zero = std::numeric_limits<double>::denorm_min();
  return {.min_abs = side == tail::two_sided ? least : std::max(least, above_zero), .side = side};
}

std::string_view to_string(column_shuffle shuffle) noexcept {
  return detail::name_in(shuffle, {"permutation", "circular"});
}

std::vector<index_t> column_permutation(index_t cols, std::uint64_t seed, index_t number) {
  if (cols < 0 || number < 0) {
    throw invalid_argument(fmt::format("{}: got {}, expected at least 0",
                                       cols < 0 ? "cols" : "number", cols < 0 ? cols : number));
  }
  std::vector<index_t> out(static_cast<std::size_t>(cols));
  detail::shuffle_columns(seed, number, out);
  return out;
}

namespace detail {
namespace {

constexpr index_t most_permutations = 1'000'000;
constexpr std::size_t stack_bytes = std::size_t{64} << 20;

void check(const pair_tables& tables, const max_t_options& how) {
  if (how.permutations < 1 || how.permutations > most_permutations) {
    throw invalid_argument(fmt::format("max_t_options.permutations: got {}, expected 1 to {}",
                                       how.permutations, most_permutations));
  }
  check_enumerator("max_t_options.side", how.side, tail::less);
  check_enumerator("max_t_options.shuffle", how.shuffle, column_shuffle::circular);
  const index_t cols = cols_of(tables.x);
  if (how.shuffle == column_shuffle::circular && how.permutations > cols - 1) {
    throw invalid_argument(
        fmt::format("max_t_options.permutations: got {}, expected at most {} with circular "
                    "shuffles: {} columns have {} shifts",
                    how.permutations, cols - 1, cols, cols - 1));
  }
  if (is_on_device(tables)) {
    throw unsupported("max_t: takes tables in host memory, got one in device memory");
  }
}

// What shuffled rows meet, and what is shuffled in place of the rows themselves.
struct prepared_sides {
  pair_tables tables;  // but for x
  std::shared_ptr<const host_prepared_table> ranks;
};

// The side that is not shuffled is prepared once; several devices have no prepared rows. On the CPU
// ranks are shuffled in place of what they are of: they are short, and their ranks are the same.
prepared_sides prepare_sides(const pair_tables& data, pair_request request) {
  prepared_sides out{.tables = {.x = data.x, .y = data.y ? *data.y : data.x}, .ranks = nullptr};
  if (request.exec.devices.size() > 1) return out;
  const auto prepare = [&](const any_table& table) {
    request.tables = {table};
    return prepare_table(request);
  };
  out.tables.prepared_y = prepare(*out.tables.y);
  out.tables.y.reset();
  if (request.exec.target != backend::cpu || !packs_ranks(request.what)) return out;
  out.ranks = std::dynamic_pointer_cast<const host_prepared_table>(data.y ? prepare(data.x)
                                                                          : out.tables.prepared_y);
  // Shuffled ranks of a row with a NaN would be those of a row without one.
  if (out.ranks && !out.ranks->nan_rows.empty()) out.ranks = nullptr;
  return out;
}

max_t_null run_max_t(pair_request request, const max_t_options& how) {
  const auto start = std::chrono::steady_clock::now();
  const pair_tables data = request.tables;
  const progress_callback on_progress = request.exec.on_progress;
  request.folding = row_folding::never;
  request.exec.target = checked_backend(request, static_cast<double>(how.permutations));
  if (request.exec.target == backend::cpu) request.exec.devices.clear();
  if (request.refuses_nan) {
    validate::refuse_nan(data, validate::find_nan_rows(data, request.exec.cpu_threads), {});
  }
  std::unique_ptr<max_t_search> search;
  if (on_progress) {
    request.exec.on_progress = [&](const progress& /*of a pass*/) {
      return on_progress({.stage = "max_t",
                          .done = search ? search->done() : 0,
                          .total = static_cast<std::uint64_t>(how.permutations)});
    };
  }
  prepared_sides sides = prepare_sides(data, request);
  request.tables = std::move(sides.tables);
  const auto pass = [&](const any_table& x, const auto& sink) {
    request.tables.x = x;
    return run_all_pairs(request, sink);
  };
  const std::size_t limit = request.exec.workspace_bytes;
  search = std::make_unique<max_t_search>(
      max_t_search::task{.x = sides.ranks ? sides.ranks->view : data.x,
                         .rows_of_y = rows_of_y(request.tables),
                         .is_against = data.y.has_value(),
                         .how = how,
                         .threads = request.exec.cpu_threads,
                         .bytes = limit > 0 ? std::min(limit / 4, stack_bytes) : stack_bytes},
      max_t_passes{.count = pass, .stream = pass});
  std::vector<double> maxima = search->run();
  return {.maxima = std::move(maxima),
          .side = how.side,
          .used = request.exec.target,
          .device = search->device(),
          .seconds = seconds_since(start)};
}

}  // namespace

max_t_null max_t(measure what, const pair_tables& data, const pair_options& options,
                 const max_t_options& how) {
  return with_memory_errors("max_t", [&] {
    const pair_call call(what, data, options, call_facts::shuffles | call_facts::without_p);
    check(data, how);
    return run_max_t(call.request(), how);
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
