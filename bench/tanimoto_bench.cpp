// Tanimoto similarities of all pairs from host memory, on the CPU and by every CUDA variant:
// partners, edges, counts. Rows have 1024 bits, one in twenty of them 1, as fingerprints of
// molecules have. `independent`: bits are drawn alone. `related`: a row is one of rows / 50
// prototypes with a fifth of its bits drawn anew.
//
// Items are pairs: rows^2 of partners, which meet every other row from both sides; half as many of
// edges and counts. What the product alone takes is binary_matmul_bench at a depth of 1024.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>

namespace {

constexpr gpu::index_t cols = 1024;

enum class rows_kind { independent, related };

gpu::bit_matrix draw_rows(gpu::index_t rows, rows_kind kind) {
  std::mt19937_64 engine(7);
  constexpr int ones = cols / 20;
  gpu::bit_matrix out(rows, cols);
  const gpu::index_t prototypes = std::max<gpu::index_t>(1, rows / 50);
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::uint32_t* const row = out.view().row(i);
    std::fill(row, row + out.row_words(), 0U);
    std::mt19937_64 prototype(engine() % static_cast<std::uint64_t>(prototypes));
    for (int b = 0; b < ones; ++b) {
      const std::uint64_t shared = prototype();
      const bool is_own = kind == rows_kind::independent || engine() % 5 == 0;
      const std::uint64_t bit = (is_own ? engine() : shared) % cols;
      row[bit / 32] |= 1U << (bit % 32);
    }
  }
  return out;
}

template <class Sink>
void all_pairs(benchmark::State& state, rows_kind kind, gpu::backend where,
               gpu::pair_variant variant, const Sink& sink) {
  const gpu::index_t rows = state.range(0);
  const gpu::bit_matrix bits = draw_rows(rows, kind);
  const gpu::pair_options options{.variant = variant, .exec = {.target = where}};
  double pairs_seconds = 0;
  double kept = 0;
  try {
    for (auto _ : state) {
      const auto result = gpu::tanimoto_all_pairs(bits, options, sink);
      benchmark::DoNotOptimize(result.summary.pairs_kept);
      pairs_seconds += result.summary.pairs_seconds;
      kept = static_cast<double>(result.summary.pairs_kept);
    }
  } catch (const gpu::error& reason) {
    state.SkipWithError(reason.what());
    return;
  }
  const bool twice = std::is_same_v<Sink, gpu::top_k_sink>;
  state.SetItemsProcessed(state.iterations() * rows * rows / (twice ? 1 : 2));
  state.counters["pairs_ms"] = pairs_seconds * 1e3 / static_cast<double>(state.iterations());
  state.counters["kept"] = kept;
}

template <class Sink>
void add(const std::string& what, gpu::backend where, gpu::pair_variant variant,
         std::vector<std::int64_t> rows, const Sink& sink) {
  for (const rows_kind kind : {rows_kind::independent, rows_kind::related}) {
    const std::string name = "tanimoto/" + what + "/" + std::string(gpu::to_string(where)) + "/" +
                             std::string(gpu::to_string(variant)) +
                             (kind == rows_kind::related ? "/related" : "/independent");
    auto* bench = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      all_pairs(state, kind, where, variant, sink);
    });
    bench->UseRealTime()->Unit(benchmark::kMillisecond);
    for (const std::int64_t count : rows) bench->Arg(count);
  }
}

[[maybe_unused]] const bool registered = [] {
  using variant = gpu::pair_variant;
  const auto add_all = [](gpu::backend where, variant which, std::vector<std::int64_t> rows) {
    add("top_10", where, which, rows, gpu::top_k_sink{.k = 10});
    add("edges_0.6", where, which, rows, gpu::edge_sink{.keep = {.min_abs = 0.6}});
    add("counts_0.3", where, which, rows, gpu::count_sink{.keep = {.min_abs = 0.3}});
  };
  add_all(gpu::backend::cpu, variant::tiled, {10000});
  for (const variant which : {variant::shared_tiled, variant::tensor}) {
    add_all(gpu::backend::cuda, which, {100000});
  }
  add_all(gpu::backend::cuda, variant::hopper, {100000, 300000, 1000000});
  return true;
}();

}  // namespace
