// The promise on memory: beside the input and what they keep, all pairs take at most 256 MiB on the
// CPU, however many rows there are, or the limit that was asked for. A program of its own, run once
// a case (`spearman`, `patterns`, `pearson`, `counts`, `columns`, `integers`, `sparse`, `long`), as
// the peak is one of the whole process.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/matrix.hpp>

#if defined(__linux__)
#include <sys/resource.h>
#endif

namespace {

constexpr double mebibyte = 1024.0 * 1024;

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

enum class layout { rows, columns };

struct job {
  gpu::index_t rows;
  unsigned values;  // of an element
  layout stands = layout::rows;
  gpu::index_t distinct = 0;  // rows, which then repeat; 0: all
  std::size_t limit = 0;      // execution::workspace_bytes
  std::uint64_t enough = 0;   // pairs after which it is cancelled
  gpu::index_t cols = 30;
};

// Bytes that call(options) takes at its peak. All pairs take minutes; the memory is all there once
// enough of them are done.
template <class Call>
double bytes_of(const job& what, const Call& call) {
  const double before = peak_bytes();
  gpu::pair_options options;
  options.exec.target = gpu::backend::cpu;
  options.exec.cpu_threads = 2;
  options.exec.workspace_bytes = what.limit;
  int reports = 0;
  options.exec.on_progress = [&](const gpu::progress& state) {
    const bool is_enough = state.stage == "pairs" && state.done >= what.enough && ++reports > 2;
    return is_enough ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  };
  try {
    call(options);
  } catch (const gpu::cancelled&) {
  }
  return peak_bytes() - before;
}

// The same of one table of doubles, of which every sixth is stored.
template <class Run, class Sink>
double bytes_beside_sparse_input(const job& what, const Run& run, const Sink& sink) {
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int64_t> column;
  std::vector<double> values;
  row_begin.reserve(static_cast<std::size_t>(what.rows) + 1);
  const auto stored = static_cast<std::size_t>(what.rows * (what.cols / 6 + 1));
  column.reserve(stored);
  values.reserve(stored);
  std::mt19937 random(1);
  for (gpu::index_t i = 0; i < what.rows; ++i) {
    for (std::int64_t k = i % 6; k < what.cols; k += 6) {
      column.push_back(k);
      values.push_back(static_cast<double>(1 + random() % what.values));
    }
    row_begin.push_back(static_cast<std::int64_t>(values.size()));
  }
  const gpu::csr_view<const double> view(row_begin.data(), column.data(), values.data(), what.rows,
                                         what.cols);
  return bytes_of(what, [&](const gpu::pair_options& options) { run(view, options, sink); });
}

// Bytes that a call takes at its peak beside its input; `run(view, options, sink)` is a measure.
template <class T, class Run, class Sink>
double bytes_beside_input(const job& what, const Run& run, const Sink& sink) {
  gpu::matrix<T> data(what.rows, what.cols);
  std::mt19937 random(1);
  for (gpu::index_t i = 0; i < what.rows; ++i) {
    if (what.distinct != 0 && i % what.distinct == 0) random.seed(1);
    for (gpu::index_t k = 0; k < what.cols; ++k) {
      data(i, k) = static_cast<T>(random() % what.values);
    }
  }
  return bytes_of(what, [&](const gpu::pair_options& options) {
    if (what.stands == layout::rows) return run(data.view(), options, sink);
    // Other rows of the same elements, whose ranks and sums are as good.
    run(gpu::column_matrix_view<const T>(data.data(), what.rows, what.cols), options, sink);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "spearman";
  const gpu::edge_sink strict{.keep = {.max_p = 1e-12}};
  double allowed = 256 * mebibyte;
  double taken = 0;
  if (name == "counts") {
    // The first window, a range of rows and its own pairs, is smaller than the next.
    const job limited{
        .rows = 1'000'000, .values = 20, .limit = std::size_t{16} << 20, .enough = 3'000'000'000};
    taken = bytes_beside_input<std::int8_t>(limited, spearman,
                                            gpu::count_sink{.keep = {.max_p = 0.05}});
    // The degrees are kept; pages of threads and allocators.
    allowed =
        static_cast<double>(limited.limit) + static_cast<double>(limited.rows) * 4 + 8 * mebibyte;
  } else if (name == "columns" || name == "integers" || name == "sparse") {
    // Beside the limit a panel of 8 MiB, and no second table, of 240 MB.
    const job limited{.rows = 1'000'000,
                      .values = 1'000'000,
                      .stands = layout::columns,
                      .limit = std::size_t{16} << 20,
                      .enough = 100'000'000};
    const gpu::count_sink counts{.keep = {.max_p = 0.05}};
    taken = name == "sparse"    ? bytes_beside_sparse_input(limited, spearman, counts)
            : name == "columns" ? bytes_beside_input<double>(limited, spearman, counts)
                                : bytes_beside_input<std::int64_t>(limited, pearson, counts);
    allowed =
        static_cast<double>(limited.limit) + static_cast<double>(limited.rows) * 4 + 16 * mebibyte;
  } else if (name == "long") {
    // 40 rows of 8 MB in half of that, and beside them a panel of eight.
    const job limited{.rows = 40,
                      .values = 1000,
                      .limit = std::size_t{170} << 20,
                      .enough = 1'000'000,
                      .cols = 1'000'000};
    taken = bytes_beside_sparse_input(limited, pearson, strict);
    allowed = static_cast<double>(limited.limit) + 64e6 + 16 * mebibyte;
  } else if (name == "patterns") {
    const gpu::stream_sink stream{.keep = strict.keep,
                                  .consume = [](std::span<const gpu::edge>) {},
                                  .order = gpu::edge_order::unspecified,
                                  .batch_edges = 1 << 16};
    taken = bytes_beside_input<std::int8_t>(
        {.rows = 4'000'000, .values = 20, .distinct = 2'500'000}, spearman, stream);
  } else if (name == "pearson") {
    taken = bytes_beside_input<double>({.rows = 1'000'000, .values = 1'000'000}, pearson, strict);
  } else {
    taken = bytes_beside_input<std::int8_t>({.rows = 3'000'000, .values = 20}, spearman, strict);
  }
  std::printf("%.0f MiB beside the input, %.0f allowed\n", taken / mebibyte, allowed / mebibyte);
  return taken <= allowed ? 0 : 1;
}
