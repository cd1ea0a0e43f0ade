// Tables of few long rows: every sink of Pearson and Spearman, from device memory to device memory
// and from host to host, for bench/peers/wide_plane_torch.py, which checks the results.
//
//   wide_job ROWS COLS FILE [DENSE [CALLS]]
//
// FILE holds ROWS x COLS float32 values, row after row. DENSE: a file for the dense results of
// Pearson and of Spearman, ROWS x ROWS doubles and then as many floats each; - for none. CALLS: of
// each job, 15 at most. Prints one line a job: name, median and best milliseconds, and what was
// found.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/device_sinks.hpp>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class T>
class device_memory {
 public:
  explicit device_memory(std::size_t size) : size_(size) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(size, 1) * sizeof(T)));
    data_ = static_cast<T*>(memory);
  }
  ~device_memory() { static_cast<void>(cudaFree(data_)); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> out(size_);
    check(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

constexpr double most_seconds = 1.0;
int most_calls = 15;

// Times run(), and prints what found() says of it.
void time_job(const std::string& name, const std::function<void()>& run,
              const std::function<double()>& found) {
  run();
  check(cudaDeviceSynchronize());
  std::vector<double> milliseconds;
  double spent = 0;
  while (static_cast<int>(milliseconds.size()) < most_calls && spent < most_seconds) {
    const auto start = std::chrono::steady_clock::now();
    run();
    check(cudaDeviceSynchronize());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    milliseconds.push_back(seconds * 1e3);
    spent += seconds;
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%s %.4f %.4f %.17g\n", name.c_str(), milliseconds[milliseconds.size() / 2],
              milliseconds.front(), found());
  std::fflush(stdout);
}

struct job {
  const std::vector<float>& values;
  gpu::index_t rows;
  gpu::index_t cols;
  gpu::device_matrix_view<const float> there;
  std::ofstream dense;

  void run(gpu::measure what);
};

void job::run(gpu::measure what) {
  const std::string name(gpu::info_of(what).name);
  const gpu::pair_options options{.exec = {.target = gpu::backend::cuda}};
  const auto pairs = static_cast<std::size_t>(rows * rows);
  {
    const device_memory<double> out(pairs);
    const gpu::device_dense_sink sink{.out = {out.data(), rows, rows}};
    time_job(
        name + " device dense-f64", [&] { gpu::all_pairs(what, there, options, sink); },
        [&] { return 0.0; });
    if (dense.is_open()) {
      const std::vector<double> all = out.read();
      dense.write(reinterpret_cast<const char*>(all.data()),
                  static_cast<std::streamsize>(all.size() * sizeof(double)));
    }
  }
  {
    const device_memory<float> out(pairs);
    const gpu::device_dense_sink_f32 sink{.out = {out.data(), rows, rows}};
    time_job(
        name + " device dense-f32", [&] { gpu::all_pairs(what, there, options, sink); },
        [&] { return 0.0; });
    if (dense.is_open()) {
      const std::vector<float> all = out.read();
      dense.write(reinterpret_cast<const char*>(all.data()),
                  static_cast<std::streamsize>(all.size() * sizeof(float)));
    }
  }
  {
    const device_memory<std::uint32_t> degree(static_cast<std::size_t>(rows));
    const gpu::device_count_sink sink{.degree = {degree.data(), rows}, .keep = {.max_p = 0.05}};
    time_job(
        name + " device counts", [&] { gpu::all_pairs(what, there, options, sink); },
        [&] {
          double sum = 0;
          for (const std::uint32_t d : degree.read()) sum += d;
          return sum / 2;
        });
  }
  {
    constexpr gpu::index_t k = 10;
    const device_memory<gpu::node_id> index(static_cast<std::size_t>(rows * k));
    const device_memory<double> statistic(static_cast<std::size_t>(rows * k));
    const device_memory<gpu::node_id> count(static_cast<std::size_t>(rows));
    const gpu::device_top_k_sink sink{.index = {index.data(), rows, k},
                                      .statistic = {statistic.data(), rows, k},
                                      .count = {count.data(), rows}};
    time_job(
        name + " device top-10", [&] { gpu::all_pairs(what, there, options, sink); },
        [&] {
          double sum = 0;
          for (const double x : statistic.read()) sum += x == x ? std::abs(x) : 0.0;
          return sum;
        });
  }
  const gpu::matrix_view<const float> here(values.data(), rows, cols);
  std::size_t edges = 0;
  time_job(
      name + " host edges-1e-6",
      [&] {
        edges = gpu::all_pairs(what, here, options, gpu::edge_sink{.keep = {.max_p = 1e-6}})
                    .edges.size();
      },
      [&] { return static_cast<double>(edges); });
  time_job(
      name + " host counts",
      [&] {
        edges = gpu::all_pairs(what, here, options, gpu::count_sink{.keep = {.max_p = 0.05}}).kept;
      },
      [&] { return static_cast<double>(edges); });
  time_job(
      name + " host top-10",
      [&] { static_cast<void>(gpu::all_pairs(what, here, options, gpu::top_k_sink{.k = 10})); },
      [&] { return 0.0; });
  time_job(
      name + " host dense-f32",
      [&] { static_cast<void>(gpu::all_pairs(what, here, options, gpu::dense_sink_f32{})); },
      [&] { return 0.0; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: wide_job ROWS COLS FILE [DENSE [CALLS]]\n");
    return 2;
  }
  try {
    const gpu::index_t rows = std::atoll(argv[1]);
    const gpu::index_t cols = std::atoll(argv[2]);
    std::vector<float> values(static_cast<std::size_t>(rows * cols));
    std::ifstream file(argv[3], std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file) throw std::runtime_error("the file is too short");
    const device_memory<float> there(values.size());
    check(cudaMemcpy(there.data(), values.data(), values.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    job work{values, rows, cols, {there.data(), rows, cols}, {}};
    if (argc > 4 && std::string(argv[4]) != "-") work.dense.open(argv[4], std::ios::binary);
    if (argc > 5) most_calls = std::atoi(argv[5]);
    work.run(gpu::measure::pearson);
    work.run(gpu::measure::spearman);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wide_job: %s\n", e.what());
    return 1;
  }
  return 0;
}
