// What folding rows of equal ranks gains on sparse counts: whole calls from host rows to the host
// result, each row for itself beside patterns. `share` is patterns per row; prepare_ms has upload,
// ranks and, where rows are folded, finding the patterns.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/spearman.hpp>

#include "common/data.hpp"

namespace {

constexpr std::int64_t cols = 30;

// Per row a share of zeros in [0.6, 0.98), else counts from 1 to 40.
gpu::matrix_view<const std::int32_t> sparse_counts(std::int64_t rows) {
  static std::vector<std::int32_t> values;
  const auto wanted = static_cast<std::size_t>(rows * cols);
  if (values.size() != wanted) {
    values = gpu_bench::count_rows<std::int32_t>(rows, cols, 0.6, 0.98, 40);
  }
  return {values.data(), rows, cols};
}

template <class Sink>
gpu::pair_summary summary_of(const gpu::matrix_view<const std::int32_t>& data,
                             const gpu::pair_options& options, const Sink& sink) {
  auto result = gpu::spearman_all_pairs(data, options, sink);
  if constexpr (std::is_same_v<decltype(result), gpu::pair_summary>) {
    return result;
  } else {
    return std::move(result.summary);
  }
}

template <class Sink>
void time_fold(benchmark::State& state, gpu::backend where, gpu::row_folding fold,
               std::int64_t rows, const Sink& sink) {
  gpu::pair_options options;
  options.fold = fold;
  options.exec.target = where;
  const auto data = sparse_counts(rows);
  gpu::pair_summary last;
  double prepare_seconds = 0;
  for (auto _ : state) {
    try {
      last = summary_of(data, options, sink);
      prepare_seconds += last.prepare_seconds;
    } catch (const gpu::error& failure) {
      state.SkipWithError(failure.what());
      return;
    }
  }
  using benchmark::Counter;
  state.counters["pairs/s"] =
      Counter(static_cast<double>(last.pairs_tested), Counter::kIsIterationInvariantRate);
  state.counters["kept"] = static_cast<double>(last.pairs_kept);
  state.counters["prepare_ms"] = Counter(prepare_seconds * 1e3, Counter::kAvgIterations);
  if (last.patterns > 0) {
    state.counters["share"] = static_cast<double>(last.patterns) / static_cast<double>(rows);
  }
}

template <class Sink>
void add(const std::string& job, gpu::backend where, gpu::row_folding fold, std::int64_t rows,
         const Sink& sink) {
  const std::string name = "spearman_folding/" + std::string(gpu::to_string(where)) + '/' + job +
                           (fold == gpu::row_folding::never ? "/rows/" : "/patterns/") +
                           std::to_string(rows) + 'x' + std::to_string(cols);
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { time_fold(state, where, fold, rows, sink); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  const gpu::pair_filter strict{.max_p = 0.05, .adjust = gpu::adjustment::bonferroni};
  struct place {
    gpu::backend where;
    std::int64_t rows;
  };
  for (const place& at : {place{gpu::backend::cpu, 50'000}, place{gpu::backend::cuda, 2'000'000}}) {
    for (const auto fold : {gpu::row_folding::never, gpu::row_folding::always}) {
      add("count_strict", at.where, fold, at.rows, gpu::count_sink{.keep = strict});
      add("count_loose", at.where, fold, at.rows, gpu::count_sink{.keep = {.max_p = 0.05}});
      add("top_10", at.where, fold, at.rows, gpu::top_k_sink{.k = 10});
    }
    const auto ignore = [](std::span<const gpu::folded_edge> edges) {
      benchmark::DoNotOptimize(edges.data());
    };
    add("folded_edges_strict", at.where, gpu::row_folding::always, at.rows,
        gpu::folded_stream_sink{.keep = strict, .consume = ignore});
    add("folded_edges_strict_unordered", at.where, gpu::row_folding::always, at.rows,
        gpu::folded_stream_sink{
            .keep = strict, .consume = ignore, .order = gpu::edge_order::unspecified});
  }
  return true;
}();

}  // namespace
