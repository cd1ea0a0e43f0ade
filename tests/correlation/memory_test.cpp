// The promise on memory: all pairs on the CPU take at most the input, 256 MiB, and what they keep.
// A program of its own, as the peak is one of the whole process.

#include <cstdint>
#include <cstdio>
#include <random>

#include <gpu/error.hpp>
#include <gpu/matrix.hpp>
#include <gpu/spearman.hpp>

#if defined(__linux__)
#include <sys/resource.h>
#endif

namespace {

constexpr gpu::index_t rows = 1'000'000;
constexpr gpu::index_t cols = 30;
constexpr double allowed = 256.0 * 1024 * 1024;

// Peak resident size of this process in bytes; 0 where the system does not tell.
double peak_bytes() {
#if defined(__linux__)
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) return static_cast<double>(usage.ru_maxrss) * 1024;
#endif
  return 0;
}

}  // namespace

int main() {
  gpu::matrix<std::int32_t> data(rows, cols);
  std::mt19937 random(1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = static_cast<std::int32_t>(random() % 20);
  }
  const double before = peak_bytes();
  // 5e11 pairs take minutes; the memory is all there once the first of them are done.
  gpu::pair_options options;
  options.exec.target = gpu::backend::cpu;
  int reports = 0;
  options.exec.on_progress = [&](const gpu::progress& state) {
    const bool enough = state.stage == "pairs" && ++reports > 2;
    return enough ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  };
  try {
    (void)gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{.keep = {.max_p = 1e-12}});
  } catch (const gpu::cancelled&) {
  }
  const double taken = peak_bytes() - before;
  std::printf("%.0f MiB beside the input, %.0f allowed\n", taken / (1024 * 1024),
              allowed / (1024 * 1024));
  return taken <= allowed ? 0 : 1;
}
