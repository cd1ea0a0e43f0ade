// p of correlations: from the table of a call, and from Boost.Math's incomplete beta function.
#include <benchmark/benchmark.h>

#include <boost/math/special_functions/beta.hpp>

#include <random>
#include <vector>

#include "stats/significance/p_table.hpp"
#include "stats/significance/significance.hpp"

namespace {

// Statistics anywhere between the cut at p <= 0.05 of 30 observations and 1.
std::vector<gpu::edge> some_edges(std::size_t count) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> magnitude(0.361, 1.0);
  std::vector<gpu::edge> edges(count);
  for (gpu::edge& e : edges) e.statistic = magnitude(generator) * (generator() % 2 == 0 ? 1 : -1);
  return edges;
}

// On one thread; the argument is the number of observations.
void p_of_edges(benchmark::State& state) {
  std::vector<gpu::edge> edges = some_edges(1 << 20);
  const gpu::stats::edge_p_values p(gpu::significance::student_t, state.range(0),
                                    gpu::tail::two_sided, 1);
  for (auto _ : state) {
    gpu::stats::fill_p(p.function(), edges, 1);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges.size()));
}
BENCHMARK(p_of_edges)->Arg(30)->Arg(57)->Arg(1000);

void p_of_edges_boost(benchmark::State& state) {
  using namespace boost::math::policies;
  using plain = policy<promote_double<false>>;
  std::vector<gpu::edge> edges = some_edges(1 << 12);
  const double half_freedom = static_cast<double>(state.range(0) - 2) / 2;
  for (auto _ : state) {
    for (gpu::edge& e : edges) {
      e.p = boost::math::ibeta(half_freedom, 0.5, (1 + e.statistic) * (1 - e.statistic), plain());
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges.size()));
}
BENCHMARK(p_of_edges_boost)->Arg(30)->Arg(57)->Arg(1000);

// More numbers of observations in turn than the library remembers tables of.
void p_table(benchmark::State& state) {
  gpu::index_t observations = state.range(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(gpu::stats::p_table_for(observations));
    observations = observations == state.range(0) + 7 ? state.range(0) : observations + 1;
  }
}
BENCHMARK(p_table)->Arg(30)->Arg(57)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
