// All pairs of rows that are in device memory already, beside the calls on host memory.
//
//   device_pairs_job origin [rows]
//   device_pairs_job results [word]
//
// origin: the job this project began with (rows of 30 small counts, edges at Bonferroni 0.05), from
// host rows, from device rows, and how long an upload of the rows takes from page-locked memory.
// results: times sinks whose results stay on the device beside the host results of the same device
// rows, for the sinks with `word` in their names.
// Prints medians of seconds.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct timing {
  double median;
  double best;
};

// Seconds of run(), which ends with the device at rest.
timing seconds_of(int calls, const std::function<void()>& run) {
  run();
  std::vector<double> seconds;
  for (int call = 0; call < calls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front()};
}

void print(const char* what, const timing& took) {
  std::printf("%-44s median %.5f s, best %.5f s\n", what, took.median, took.best);
  std::fflush(stdout);
}

// Counts with many ties: the rows of examples/generate_counts.cpp in kind.
std::vector<std::int32_t> small_counts(std::size_t elements) {
  std::vector<std::int32_t> out(elements);
  std::uint64_t state = 1;
  for (std::int32_t& value : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto random = static_cast<std::uint32_t>(state >> 33);
    value = random % 3 == 0 ? 0 : static_cast<std::int32_t>(random >> 8 & 15);
  }
  return out;
}

void origin(gpu::index_t rows) {
  constexpr gpu::index_t cols = 30;
  const auto elements = static_cast<std::size_t>(rows * cols);
  const std::size_t bytes = elements * sizeof(std::int32_t);
  const std::vector<std::int32_t> host = small_counts(elements);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, bytes));
  std::memcpy(pinned, host.data(), bytes);
  check(cudaMemcpy(memory, pinned, bytes, cudaMemcpyHostToDevice));
  const gpu::matrix_view<const std::int32_t> from_host(host.data(), rows, cols);
  const gpu::device_matrix_view<const std::int32_t> from_device(
      static_cast<const std::int32_t*>(memory), rows, cols);
  const gpu::edge_sink sink{.keep = {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}};
  std::uint64_t kept[2] = {0, 0};
  double prepare[2] = {0, 0};
  print("origin job, host rows", seconds_of(5, [&] {
          const auto result = gpu::spearman_all_pairs(from_host, sink);
          kept[0] = result.edges.size();
          prepare[0] = result.summary.prepare_seconds;
        }));
  print("origin job, device rows", seconds_of(5, [&] {
          const auto result = gpu::spearman_all_pairs(from_device, sink);
          kept[1] = result.edges.size();
          prepare[1] = result.summary.prepare_seconds;
        }));
  print("upload of the rows, page-locked",
        seconds_of(5, [&] { check(cudaMemcpy(memory, pinned, bytes, cudaMemcpyHostToDevice)); }));
  std::printf("kept %llu and %llu, prepare %.5f and %.5f s\n",
              static_cast<unsigned long long>(kept[0]), static_cast<unsigned long long>(kept[1]),
              prepare[0], prepare[1]);
  check(cudaFreeHost(pinned));
  check(cudaFree(memory));
}

// Device memory that lives as long as the program.
template <class T>
T* device_memory(std::size_t size) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, size * sizeof(T)));
  return static_cast<T*>(memory);
}

template <class T>
struct result_case {
  const char* name;
  gpu::index_t rows;
  gpu::index_t cols;
  double max_p;
  void (*in_device)(gpu::device_matrix_view<const T>, const gpu::pair_filter&);
  void (*in_host)(gpu::device_matrix_view<const T>, const gpu::pair_filter&);
};

template <class T>
void compare(std::string_view word, const result_case<T>& job) {
  if (std::string_view(job.name).find(word) == std::string_view::npos) return;
  const auto elements = static_cast<std::size_t>(job.rows * job.cols);
  const std::vector<std::int32_t> counts = small_counts(elements);
  const std::vector<T> values(counts.begin(), counts.end());
  T* const memory = device_memory<T>(elements);
  check(cudaMemcpy(memory, values.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
  const gpu::device_matrix_view<const T> data(memory, job.rows, job.cols);
  const gpu::pair_filter keep{.max_p = job.max_p};
  const timing device = seconds_of(3, [&] {
    job.in_device(data, keep);
    check(cudaDeviceSynchronize());
  });
  const timing host = seconds_of(3, [&] { job.in_host(data, keep); });
  const double pairs = static_cast<double>(job.rows) * static_cast<double>(job.rows - 1) / 2;
  std::printf(
      "%-28s %8lld x %-5lld p %-7g device %.5f s (%.3g pairs/s), host result %.5f s, %.2f\n",
      job.name, static_cast<long long>(job.rows), static_cast<long long>(job.cols), job.max_p,
      device.median, pairs / device.median, host.median, host.median / device.median);
  std::fflush(stdout);
  check(cudaFree(memory));
}

// Options that leave the rows as they are, so that both compute the same pairs.
const gpu::pair_options unfolded{.fold = gpu::row_folding::never};
constexpr gpu::index_t most_rows = 1'000'000;
constexpr gpu::index_t partners = 10;
constexpr gpu::index_t most_edges = 20'000'000;

std::uint32_t* degrees() {
  static std::uint32_t* const memory = device_memory<std::uint32_t>(most_rows);
  return memory;
}
void spearman_counts(gpu::device_matrix_view<const std::int32_t> data,
                     const gpu::pair_filter& keep) {
  gpu::spearman_all_pairs(data, unfolded,
                          gpu::device_count_sink{.degree = {degrees(), data.rows()}, .keep = keep});
}
void pearson_counts(gpu::device_matrix_view<const float> data, const gpu::pair_filter& keep) {
  gpu::pearson_all_pairs(data, unfolded,
                         gpu::device_count_sink{.degree = {degrees(), data.rows()}, .keep = keep});
}
void spearman_partners(gpu::device_matrix_view<const std::int32_t> data,
                       const gpu::pair_filter& keep) {
  static auto* const index = device_memory<gpu::node_id>(most_rows * partners);
  static auto* const statistic = device_memory<double>(most_rows * partners);
  gpu::spearman_all_pairs(data, unfolded,
                          gpu::device_top_k_sink{.index = {index, data.rows(), partners},
                                                 .statistic = {statistic, data.rows(), partners},
                                                 .count = {degrees(), data.rows()},
                                                 .keep = keep});
}
void spearman_edges(gpu::device_matrix_view<const std::int32_t> data,
                    const gpu::pair_filter& keep) {
  static auto* const edges = device_memory<gpu::edge>(most_edges);
  static auto* const found = device_memory<std::uint64_t>(1);
  gpu::spearman_all_pairs(
      data, unfolded,
      gpu::device_edge_sink{.edges = {edges, most_edges}, .found = {found, 1}, .keep = keep});
}
void spearman_dense(gpu::device_matrix_view<const std::int32_t> data, const gpu::pair_filter&) {
  static auto* const out = device_memory<float>(std::size_t{20'000} * 20'000);
  gpu::spearman_all_pairs(data, unfolded,
                          gpu::device_dense_sink_f32{.out = {out, data.rows(), data.rows()}});
}

void results(std::string_view word) {
  using integers = gpu::device_matrix_view<const std::int32_t>;
  using floats = gpu::device_matrix_view<const float>;
  using filter = const gpu::pair_filter&;
  const auto counts = [](integers data, filter keep) {
    static_cast<void>(gpu::spearman_all_pairs(data, unfolded, gpu::count_sink{.keep = keep}));
  };
  const auto of_pearson = [](floats data, filter keep) {
    static_cast<void>(gpu::pearson_all_pairs(data, unfolded, gpu::count_sink{.keep = keep}));
  };
  const auto near = [](integers data, filter keep) {
    static_cast<void>(
        gpu::spearman_all_pairs(data, unfolded, gpu::top_k_sink{.k = partners, .keep = keep}));
  };
  const auto edges = [](integers data, filter keep) {
    static_cast<void>(gpu::spearman_all_pairs(data, unfolded, gpu::edge_sink{.keep = keep}));
  };
  const auto dense = [](integers data, filter) {
    static_cast<void>(gpu::spearman_all_pairs(data, unfolded, gpu::dense_sink_f32{}));
  };
  compare<std::int32_t>(word, {"spearman counts", 1'000'000, 30, 0.05, spearman_counts, counts});
  compare<std::int32_t>(word, {"spearman counts", 20'000, 1000, 0.05, spearman_counts, counts});
  compare<float>(word, {"pearson counts", 200'000, 64, 0.05, pearson_counts, of_pearson});
  compare<float>(word, {"pearson counts", 500'000, 30, 0.05, pearson_counts, of_pearson});
  compare<std::int32_t>(word, {"spearman top 10", 1'000'000, 30, 1, spearman_partners, near});
  compare<std::int32_t>(word, {"spearman top 10", 20'000, 1000, 1, spearman_partners, near});
  compare<std::int32_t>(word, {"spearman edges", 20'000, 1000, 0.05, spearman_edges, edges});
  compare<std::int32_t>(word, {"spearman edges", 1'000'000, 30, 1e-12, spearman_edges, edges});
  compare<std::int32_t>(word, {"spearman edges", 300'000, 100, 1e-12, spearman_edges, edges});
  compare<std::int32_t>(word,
                        {"spearman edges, overflow", 100'000, 30, 0.05, spearman_edges, edges});
  compare<std::int32_t>(word, {"spearman dense float", 20'000, 1000, 1, spearman_dense, dense});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string job = argc > 1 ? argv[1] : "";
  try {
    if (job == "origin") {
      origin(argc > 2 ? std::atoll(argv[2]) : 9'879'896);
      return 0;
    }
    if (job == "results") {
      results(argc > 2 ? argv[2] : "");
      return 0;
    }
    std::fprintf(stderr, "device_pairs_job origin [rows] | results [word]\n");
    return 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "device_pairs_job: %s\n", failure.what());
    return 1;
  }
}
