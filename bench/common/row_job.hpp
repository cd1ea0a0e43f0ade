#pragma once
// What jobs on rows that are made on the spot share: independent rows of normal values, where the
// job runs, and the times of a call.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>

#include <gpu/all_pairs.hpp>

namespace gpu_bench {

inline gpu::matrix<float> normal_rows(gpu::index_t rows, gpu::index_t cols) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) out(i, k) = normal(random);
  }
  return out;
}

/// Of the arguments [cpu|cuda] [THREADS], of which the first is number `first`.
inline gpu::pair_options options_of(int argc, char** argv, int first) {
  gpu::pair_options out;
  if (argc > first) {
    out.exec.target =
        std::string_view(argv[first]) == "cpu" ? gpu::backend::cpu : gpu::backend::cuda;
  }
  if (argc > first + 1) out.exec.cpu_threads = std::atoi(argv[first + 1]);
  return out;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best of some calls, and of their summaries, in seconds.
struct call_seconds {
  double whole = std::numeric_limits<double>::infinity();
  double pairs = std::numeric_limits<double>::infinity();
};

/// The seconds of the best call(), of at most 5, and 10 seconds; what it returns is destroyed
/// behind them.
template <class Call>
double best_of(const Call& call) {
  double best = std::numeric_limits<double>::infinity();
  double total = 0;
  for (int run = 0; run < 5 && total < 10; ++run) {
    const auto start = std::chrono::steady_clock::now();
    [[maybe_unused]] const auto result = call();
    const double seconds = seconds_since(start);
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

/// The same of all pairs.
template <class Sink>
call_seconds best_of_calls(gpu::measure what, const gpu::matrix<float>& data,
                           const gpu::pair_options& options, const Sink& sink) {
  call_seconds out;
  out.whole = best_of([&] {
    auto result = gpu::all_pairs(what, data.view(), options, sink);
    out.pairs = std::min(out.pairs, result.summary.pairs_seconds);
    return result;
  });
  return out;
}

}  // namespace gpu_bench
