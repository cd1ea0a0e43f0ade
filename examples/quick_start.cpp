// One table, one correlation, and what a program asks of such a call: cuts, resources, progress,
// streams of edges, and false discovery control.
//
//   quick_start [rows]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

namespace {

// 40 observations of each row; rows in tens share a factor, so that some pairs move together.
std::vector<float> table(std::size_t rows, std::size_t cols) {
  std::mt19937 engine(1);
  std::normal_distribution<float> noise;
  std::vector<float> factor(cols);
  std::vector<float> values(rows * cols);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % (10 * cols) < cols) factor[i % cols] = noise(engine);
    values[i] = factor[i % cols] + noise(engine);
  }
  return values;
}

void run(std::size_t rows) {
  constexpr std::size_t cols = 40;
  const std::vector<float> values = table(rows, cols);
  const gpu::matrix_view<const float> x{values.data(), rows, cols};  // nothing is copied

  // Edges: pairs with p <= 1e-6 and |rho| >= 0.5, on the best backend that is there.
  const auto edges =
      gpu::spearman_all_pairs(x, gpu::edge_sink{.keep = {.max_p = 1e-6, .min_abs = 0.5}});
  std::printf("%zu edges of %llu pairs\n", edges.edges.size(),
              static_cast<unsigned long long>(edges.summary.pairs_tested));

  // Resources: this backend, so many threads, no more scratch memory; {.devices = {0, 1}} takes two
  // GPUs. The callback sees how far the call is, and ends it by progress_reply::cancel.
  const gpu::pair_options options{.exec = {.target = gpu::backend::cpu,
                                           .workspace_bytes = std::size_t{256} << 20,
                                           .cpu_threads = 2,
                                           .on_progress = [](const gpu::progress& at) {
                                             const bool is_enough = at.done > 1'000'000'000'000;
                                             return is_enough ? gpu::progress_reply::cancel
                                                              : gpu::progress_reply::proceed;
                                           }}};

  // False discovery rate of 5 %, and q of each edge that is kept.
  const auto found = gpu::pearson_all_pairs(
      x, options,
      gpu::edge_sink{.keep = {.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg}});
  const std::vector<double> q = gpu::adjusted_p_values(found.edges, found.summary.pairs_tested,
                                                       gpu::adjustment::benjamini_hochberg);
  for (std::size_t e = 0; e < q.size() && e < 3; ++e) {
    const gpu::edge& edge = found.edges[e];
    std::printf("rows %u and %u: r %.3f, p %.2g, q %.2g\n", edge.row, edge.col, edge.statistic,
                edge.p, q[e]);
  }

  // More edges than memory holds pass by in batches.
  std::uint64_t passed = 0;
  gpu::spearman_all_pairs(x, options,
                          gpu::stream_sink{.keep = {.max_p = 0.05},
                                           .consume = [&](auto batch) { passed += batch.size(); }});
  std::printf("%llu pairs with p <= 0.05 passed by\n", static_cast<unsigned long long>(passed));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::stoul(argv[1]) : 2000);
  } catch (const std::exception& error) {  // bad arguments, memory, the device: each with its name
    std::fprintf(stderr, "quick_start: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
