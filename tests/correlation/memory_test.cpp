// The promise on memory: beside the input and what they keep, all pairs of a million rows of 30
// observations take at most 256 MiB on the CPU; Pearson's the scaled rows and their screen. A
// program of its own, run once a measure (`spearman` of int32, `pearson` of double), as the peak is
// one of the whole process.

#include <cstdint>
#include <cstdio>
#include <random>
#include <string_view>

#include <gpu/error.hpp>
#include <gpu/matrix.hpp>
#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

#if defined(__linux__)
#include <sys/resource.h>
#endif

namespace {

constexpr gpu::index_t rows = 1'000'000;
constexpr gpu::index_t cols = 30;
constexpr double mebibyte = 1024.0 * 1024;
constexpr double allowed_of_spearman = 256 * mebibyte;
// The scaled rows are doubles, padded to multiples of 8 columns; the screen a byte an element.
constexpr double allowed_of_pearson = rows * (32.0 * 8 + 32) + 32 * mebibyte;

// Peak resident size of this process in bytes; 0 where the system does not tell.
double peak_bytes() {
#if defined(__linux__)
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) return static_cast<double>(usage.ru_maxrss) * 1024;
#endif
  return 0;
}

const auto spearman = [](const auto&... arguments) {
  static_cast<void>(gpu::spearman_all_pairs(arguments...));
};
const auto pearson = [](const auto&... arguments) {
  static_cast<void>(gpu::pearson_all_pairs(arguments...));
};

// Bytes that a call takes at its peak beside its input; `run(view, options, sink)` is a measure.
template <class T, class Run>
double bytes_beside_input(unsigned values, const Run& run) {
  gpu::matrix<T> data(rows, cols);
  std::mt19937 random(1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = static_cast<T>(random() % values);
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
    run(data.view(), options, gpu::edge_sink{.keep = {.max_p = 1e-12}});
  } catch (const gpu::cancelled&) {
  }
  return peak_bytes() - before;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_pearson = argc > 1 && std::string_view(argv[1]) == "pearson";
  const double taken = is_pearson ? bytes_beside_input<double>(1'000'000, pearson)
                                  : bytes_beside_input<std::int32_t>(20, spearman);
  const double allowed = is_pearson ? allowed_of_pearson : allowed_of_spearman;
  std::printf("%.0f MiB beside the input, %.0f allowed\n", taken / mebibyte, allowed / mebibyte);
  return taken <= allowed ? 0 : 1;
}
