// Finds the significantly correlated pairs of a table of counts with every variant that this
// machine has, checks that each gives the very same edges, and prints what each variant gains.
//
//   spearman_edges [rows]     rows of 30 counts, 5,000 by default
//
// Times are of the whole call on host memory, ranking and copies included: what a caller waits for.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>

namespace {

constexpr gpu::index_t observations = 30;
constexpr double max_p = 1e-5;

// Small integers with very many ties, a share of zeros of its own in each row.
gpu::matrix<int> counts(gpu::index_t rows) {
  gpu::matrix<int> out(rows, observations);
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::uniform_int_distribution<int> count(1, 40);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double zeros = 0.5 * unit(engine);
    for (int& value : out.row(i)) value = unit(engine) < zeros ? 0 : count(engine);
  }
  return out;
}

struct timed_edges {
  gpu::edge_list list;
  double seconds = 0;
};

timed_edges find_edges(const gpu::matrix<int>& table, gpu::backend target,
                       gpu::pair_variant variant) {
  const gpu::pair_options options{.variant = variant, .exec = {.target = target}};
  const auto start = std::chrono::steady_clock::now();
  timed_edges found{.list = gpu::spearman_all_pairs(table.view(), options,
                                                    gpu::edge_sink{.keep = {.max_p = max_p}})};
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  found.seconds = taken.count();
  return found;
}

// Runs one variant and prints its line; false where its edges are not the expected ones.
bool run_variant(const gpu::matrix<int>& table, gpu::backend target, gpu::pair_variant variant,
                 const timed_edges& expected) {
  const std::string name =
      std::string(gpu::to_string(target)) + ' ' + std::string(gpu::to_string(variant));
  try {
    const timed_edges found = find_edges(table, target, variant);
    const bool same = found.list.edges == expected.list.edges;
    const auto pairs = static_cast<double>(found.list.summary.pairs_tested);
    std::printf("%-18s %10.4f %12.3g %8.2f   %s\n", name.c_str(), found.seconds,
                pairs / found.seconds, expected.seconds / found.seconds, same ? "same" : "WRONG");
    return same;
  } catch (const gpu::unsupported&) {
    return true;  // not a variant of this backend, or not of this device
  }
}

int run(gpu::index_t rows) {
  const gpu::matrix<int> table = counts(rows);
  const timed_edges expected = find_edges(table, gpu::backend::cpu, gpu::pair_variant::naive);
  std::printf("%lld rows of %lld counts, %llu pairs, %zu edges with p <= %g\n\n",
              static_cast<long long>(rows), static_cast<long long>(observations),
              static_cast<unsigned long long>(expected.list.summary.pairs_tested),
              expected.list.edges.size(), max_p);
  std::printf("%-18s %10s %12s %8s   %s\n", "variant", "seconds", "pairs/s", "gain", "edges");

  bool right = true;
  for (const gpu::backend_info& backend : gpu::available_backends()) {
    if (!backend.usable) {
      std::printf("%s: left out, %s\n", backend.name.c_str(), backend.reason.c_str());
      continue;
    }
    for (const gpu::pair_variant variant :
         {gpu::pair_variant::naive, gpu::pair_variant::tiled, gpu::pair_variant::shared_tiled,
          gpu::pair_variant::tensor}) {
      right = run_variant(table, backend.kind, variant, expected) && right;
    }
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::stoll(argv[1]) : 5000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spearman_edges: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
