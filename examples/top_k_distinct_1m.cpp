// The 20 largest distinct values of a million integers, with their counts: on the CPU by one
// thread and by all, and where there is a GPU by each variant. Every answer is compared with the
// first, and the times stand in a table.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/top_k.hpp>

namespace {

constexpr std::size_t elements = 1'000'000;
constexpr gpu::index_t k = 20;

using result = gpu::top_k_distinct_result<int>;

std::vector<int> random_values() {
  std::mt19937 engine(2024);
  std::uniform_int_distribution<int> value(0, 999'999);
  std::vector<int> values(elements);
  for (int& v : values) v = value(engine);
  return values;
}

// The least of several runs, in milliseconds; the answer of the last in `out`.
template <class Work>
double milliseconds(const Work& work, result& out) {
  double least = 1e300;
  for (int run = 0; run < 7; ++run) {
    const auto start = std::chrono::steady_clock::now();
    out = work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (taken.count() < least) least = taken.count();
  }
  return least;
}

bool equal(const result& a, const result& b) {
  return a.values == b.values && a.indices == b.indices && a.counts == b.counts;
}

}  // namespace

int main() try {
  const std::vector<int> values = random_values();
  struct candidate {
    std::string name;
    gpu::top_k_options options;
  };
  std::vector<candidate> candidates;
  const auto add = [&](const std::string& name, gpu::backend target, gpu::top_k_variant variant,
                       int threads) {
    gpu::top_k_options options{.variant = variant};
    options.exec.target = target;
    options.exec.cpu_threads = threads;
    candidates.push_back({name, options});
  };
  using variant = gpu::top_k_variant;
  add("CPU, sort of all distinct values, 1 thread", gpu::backend::cpu, variant::sort, 1);
  add("CPU, threshold, 1 thread", gpu::backend::cpu, variant::threshold, 1);
  add("CPU, threshold, all threads", gpu::backend::cpu, variant::threshold, 0);
  if (gpu::available_backends().back().usable) {
    add("CUDA, sort", gpu::backend::cuda, variant::sort, 0);
    add("CUDA, threshold", gpu::backend::cuda, variant::threshold, 0);
  } else {
    std::printf("No usable GPU: the CPU alone.\n");
  }

  result expected;
  const double base = milliseconds(
      [&] { return gpu::top_k_distinct(values, k, candidates.front().options); }, expected);
  std::printf("The %lld largest distinct values of %zu integers (times x occurs):\n",
              static_cast<long long>(k), elements);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    std::printf("%d x%lld%s", expected.values[i], static_cast<long long>(expected.counts[i]),
                i % 5 == 4 ? "\n" : "  ");
  }
  std::printf("\n%-45s %12s %9s  %s\n", "variant (CUDA: copies included)", "milliseconds",
              "speed-up", "answer");
  bool right = true;
  for (const candidate& each : candidates) {
    result got;
    const double time =
        milliseconds([&] { return gpu::top_k_distinct(values, k, each.options); }, got);
    const bool same = equal(got, expected);
    right = right && same;
    std::printf("%-45s %12.3f %8.1fx  %s\n", each.name.c_str(), time, base / time,
                same ? "equal" : "DIFFERENT");
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const gpu::error& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return EXIT_FAILURE;
}
