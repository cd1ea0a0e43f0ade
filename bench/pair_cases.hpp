#pragma once
// What the benchmarks of all pairs share: one body for every measure, sink, backend and variant, so
// that the CPU and CUDA stand in one table.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

#include "common/data.hpp"

namespace gpu_bench {

/// A backend and one of its variants.
struct backend_variant {
  gpu::backend where;
  gpu::pair_variant variant;
  [[nodiscard]] std::string name() const {
    return std::string(gpu::to_string(where)) + '_' + std::string(gpu::to_string(variant));
  }
  [[nodiscard]] gpu::pair_options options() const {
    gpu::pair_options out;
    out.fold = gpu::row_folding::never;  // rates of the variants, whatever repeats
    out.variant = variant;
    out.exec.target = where;
    return out;
  }
};

inline constexpr backend_variant backend_variants[] = {
    {gpu::backend::cpu, gpu::pair_variant::naive},
    {gpu::backend::cpu, gpu::pair_variant::tiled},
    {gpu::backend::cuda, gpu::pair_variant::naive},
    {gpu::backend::cuda, gpu::pair_variant::shared_tiled},
    {gpu::backend::cuda, gpu::pair_variant::tensor}};

/// What is kept: strict is where almost nothing passes, loose where one pair in twenty or more
/// does.
inline constexpr double strict_p = 1e-10;
inline constexpr double loose_p = 0.05;

/// Times run(sink) on host memory, ranking and copies included, and reports pairs per second.
template <class Run, class Sink>
void time_pairs(benchmark::State& state, std::int64_t rows, const Run& run, const Sink& sink) {
  std::uint64_t kept = 0;
  for (auto _ : state) {
    try {
      const auto result = run(sink);
      if constexpr (requires { result.summary; }) {
        kept = result.summary.pairs_kept;
      } else {
        kept = result.pairs_kept;
      }
      benchmark::DoNotOptimize(kept);
    } catch (const gpu::error& failure) {
      state.SkipWithError(failure.what());
      return;
    }
  }
  const double pairs = static_cast<double>(rows) * static_cast<double>(rows - 1) / 2;
  state.counters["pairs/s"] =
      benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["kept"] = static_cast<double>(kept);
}

/// Registers every sink of one variant on data made by make_data(rows, cols), computed by
/// compute(view, options, sink).
template <class T, class MakeData, class Compute>
void register_pairs(const std::string& measure, const backend_variant& which, std::int64_t rows,
                    std::int64_t cols, const MakeData& make_data, const Compute& compute) {
  const auto add = [&](const std::string& what, const auto& sink) {
    const std::string name = measure + '/' + which.name() + '/' + what + '/' +
                             std::to_string(rows) + 'x' + std::to_string(cols);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
          const auto values = make_data(rows, cols);
          const gpu::matrix_view<const T> data(values.data(), rows, cols);
          time_pairs(
              state, rows, [&](const auto& kept) { return compute(data, which.options(), kept); },
              sink);
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  // A measure without p is cut by magnitude.
  const bool has_p = gpu::info_of(gpu::measure_of(measure)).test != gpu::significance::none;
  const gpu::pair_filter strict =
      has_p ? gpu::pair_filter{.max_p = strict_p} : gpu::pair_filter{.min_abs = 0.9};
  const gpu::pair_filter loose =
      has_p ? gpu::pair_filter{.max_p = loose_p} : gpu::pair_filter{.min_abs = 0.2};
  add("count_strict", gpu::count_sink{.keep = strict});
  add("count_loose", gpu::count_sink{.keep = loose});
  add("edges_strict", gpu::edge_sink{.keep = strict});
  if (which.variant == gpu::pair_variant::naive) return;
  add("top_10", gpu::top_k_sink{.k = 10});
  if (rows <= 20'000) add("dense_f32", gpu::dense_sink_f32{});
  if (!has_p) return;
  add("bh",
      gpu::count_sink{.keep = {.max_p = loose_p, .adjust = gpu::adjustment::benjamini_hochberg}});
}

/// Rows that a variant computes in a second or so: naive variants get fewer.
inline std::int64_t rows_for(const backend_variant& which, std::int64_t cpu_rows,
                             std::int64_t cuda_rows) {
  if (which.where == gpu::backend::cuda) {
    return which.variant == gpu::pair_variant::naive ? cuda_rows / 10 : cuda_rows;
  }
  return which.variant == gpu::pair_variant::naive ? cpu_rows / 10 : cpu_rows;
}

}  // namespace gpu_bench
