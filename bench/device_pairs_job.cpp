// All pairs of rows that are in device memory already, beside the calls on host memory.
//
//   device_pairs_job origin [rows]
//
// origin: the job this project began with (rows of 30 small counts, edges at Bonferroni 0.05), from
// host rows, from device rows, and how long an upload of the rows takes from page-locked memory.
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

}  // namespace

int main(int argc, char** argv) {
  const std::string job = argc > 1 ? argv[1] : "";
  try {
    if (job == "origin") {
      origin(argc > 2 ? std::atoll(argv[2]) : 9'879'896);
      return 0;
    }
    std::fprintf(stderr, "device_pairs_job origin [rows]\n");
    return 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "device_pairs_job: %s\n", failure.what());
    return 1;
  }
}
