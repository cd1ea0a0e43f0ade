// Finds the correlated pairs of a sparse table of counts between patterns of rows: rows of equal
// ranks share all their partners, so one edge between two patterns stands for many between rows.
//
//   spearman_folded [rows]     rows of 30 counts, 20,000 by default
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

namespace {

constexpr gpu::index_t observations = 30;

// Mostly zeros, else small integers: a row has its own share of zeros.
gpu::matrix<int> counts(gpu::index_t rows) {
  gpu::matrix<int> out(rows, observations);
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::uniform_int_distribution<int> count(1, 40);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double zeros = 0.8 + 0.18 * unit(engine);
    for (int& value : out.row(i)) value = unit(engine) < zeros ? 0 : count(engine);
  }
  return out;
}

int run(gpu::index_t rows) {
  const gpu::matrix<int> table = counts(rows);
  const gpu::pair_filter keep{.max_p = 0.05, .adjust = gpu::adjustment::bonferroni};
  const gpu::folded_edge_list found =
      gpu::spearman_all_pairs(table.view(), {}, gpu::folded_edge_sink{.keep = keep});
  std::printf("%lld rows have %lld different vectors of ranks\n", static_cast<long long>(rows),
              static_cast<long long>(found.patterns.size()));
  std::printf("%llu pairs of rows with p <= %.3g, as %zu edges between patterns\n\n",
              static_cast<unsigned long long>(found.summary.pairs_kept),
              found.summary.max_p_effective, found.edges.size());

  // The edges that stand for the most pairs.
  std::vector<gpu::folded_edge> largest = found.edges;
  const auto shown = std::min<std::ptrdiff_t>(5, static_cast<std::ptrdiff_t>(largest.size()));
  std::partial_sort(
      largest.begin(), largest.begin() + shown, largest.end(),
      [](const gpu::folded_edge& a, const gpu::folded_edge& b) { return a.pairs > b.pairs; });
  std::printf("%10s %10s %10s %8s %10s\n", "row", "like it", "with row", "like it", "pairs");
  for (const gpu::folded_edge& e : std::span(largest).first(static_cast<std::size_t>(shown))) {
    const auto a = found.patterns.members_of(e.first);
    const auto b = found.patterns.members_of(e.second);
    std::printf("%10u %10zu %10u %8zu %10llu\n", a.front(), a.size(), b.front(), b.size(),
                static_cast<unsigned long long>(e.pairs));
  }

  // Spread over the rows they are the edges that an edge_sink gives: counted, not written out.
  const gpu::pair_counts rows_alone = gpu::spearman_all_pairs(
      table.view(), {.fold = gpu::row_folding::never}, gpu::count_sink{.keep = keep});
  const bool same = rows_alone.kept == found.summary.pairs_kept;
  std::printf("\nwithout folding: %llu pairs, %s\n",
              static_cast<unsigned long long>(rows_alone.kept), same ? "the same" : "WRONG");
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::atoll(argv[1]) : 20'000);
  } catch (const gpu::error& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return EXIT_FAILURE;
  }
}
