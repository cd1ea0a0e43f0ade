// A chain of operations on one CUDA stream: rows are smoothed, ranked, all pairs of them are
// counted, and the rows with the most partners are selected. The data comes up once, ten numbers
// come down, and in between nothing is copied to the host and nothing waits.
//
//   device_chain [rows [columns]]
//
// The same chain by calls on host memory stands beside it, and must give the same answer.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

namespace {

constexpr gpu::index_t best = 10;
constexpr gpu::index_t window = 5;
constexpr gpu::pair_filter keep{.max_p = 1e-6};

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Memory of the current device.
template <class T>
class device_memory {
 public:
  explicit device_memory(gpu::index_t size) : size_(size) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, static_cast<std::size_t>(size) * sizeof(T)));
    data_ = static_cast<T*>(memory);
  }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  ~device_memory() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] gpu::device_vector_view<T> vector() const { return {data_, size_}; }
  [[nodiscard]] gpu::device_matrix_view<T> matrix(gpu::index_t rows) const {
    return {data_, rows, size_ / rows};
  }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  gpu::index_t size_;
};

// The chain, and where its steps leave their results.
class chain {
 public:
  chain(gpu::index_t rows, gpu::index_t cols)
      : rows_(rows),
        data_(rows * cols),
        smooth_(rows * cols),
        ranks_(rows * cols),
        degree_(rows),
        values_(best),
        places_(best) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  chain(const chain&) = delete;
  chain& operator=(const chain&) = delete;
  ~chain() { static_cast<void>(cudaStreamDestroy(stream_)); }

  [[nodiscard]] float* data() const { return data_.data(); }

  // Puts all steps on the stream.
  void run() const {
    const gpu::execution on_stream{.stream = stream_};
    gpu::mean_filter(data_.matrix(rows_), smooth_.matrix(rows_),
                     {.window = window, .boundary = gpu::boundary::mirror, .exec = on_stream});
    gpu::rank_rows(smooth_.matrix(rows_), ranks_.matrix(rows_), {.exec = on_stream});
    gpu::spearman_all_pairs(ranks_.matrix(rows_), {.exec = on_stream},
                            gpu::device_count_sink{.degree = degree_.vector(), .keep = keep});
    gpu::top_k(gpu::as_int32(degree_.vector()), best, values_.vector(), places_.vector(),
               {.exec = on_stream});
  }
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

  // The rows with the most partners, and how many these are.
  [[nodiscard]] gpu::top_k_result<std::int32_t> read() const {
    synchronize();
    gpu::top_k_result<std::int32_t> out{.requested = best};
    out.values.resize(best);
    out.indices.resize(best);
    check(cudaMemcpy(out.values.data(), values_.data(), best * sizeof(std::int32_t),
                     cudaMemcpyDeviceToHost));
    check(cudaMemcpy(out.indices.data(), places_.data(), best * sizeof(gpu::index_t),
                     cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  gpu::index_t rows_;
  device_memory<float> data_;
  device_memory<float> smooth_;
  device_memory<double> ranks_;
  device_memory<std::uint32_t> degree_;
  device_memory<std::int32_t> values_;
  device_memory<gpu::index_t> places_;
  cudaStream_t stream_ = nullptr;
};

gpu::top_k_result<std::int32_t> on_host(const gpu::matrix<float>& data) {
  const auto smooth =
      gpu::mean_filter(data.view(), {.window = window, .boundary = gpu::boundary::mirror});
  const auto ranks = gpu::rank_rows(smooth.view());
  const auto counts = gpu::spearman_all_pairs(ranks.view(), gpu::count_sink{.keep = keep});
  const std::vector<std::int32_t> degrees(counts.degree.begin(), counts.degree.end());
  return gpu::top_k(degrees, best);
}

template <class Work>
double milliseconds(const Work& work) {
  double least = 1e300;
  for (int run = 0; run < 7; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (taken.count() < least) least = taken.count();
  }
  return least;
}

// Rows with a part in common, more of it in the first ones.
gpu::matrix<float> make_rows(gpu::index_t rows, gpu::index_t cols) {
  std::mt19937 engine(2024);
  std::normal_distribution<float> normal;
  std::vector<float> common(static_cast<std::size_t>(cols));
  for (float& value : common) value = normal(engine);
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const float share = 0.4f * static_cast<float>(rows - i) / static_cast<float>(rows);
    for (gpu::index_t k = 0; k < cols; ++k) {
      out(i, k) = share * common[static_cast<std::size_t>(k)] + (1 - share) * normal(engine);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const gpu::index_t rows = argc > 1 ? std::atoll(argv[1]) : 20'000;
  const gpu::index_t cols = argc > 2 ? std::atoll(argv[2]) : 100;
  try {
    const gpu::matrix<float> data = make_rows(rows, cols);
    const chain steps(rows, cols);
    check(cudaMemcpy(steps.data(), data.data(),
                     static_cast<std::size_t>(rows * cols) * sizeof(float),
                     cudaMemcpyHostToDevice));
    const double chained = milliseconds([&] {
      steps.run();
      steps.synchronize();
    });
    const double separate = milliseconds([&] { static_cast<void>(on_host(data)); });
    const auto got = steps.read();
    const auto wanted = on_host(data);
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      std::printf("row %6lld has %d partners\n", static_cast<long long>(got.indices[i]),
                  got.values[i]);
    }
    std::printf("%lld x %lld: %.3f ms on the device, %.3f ms by calls on host memory\n",
                static_cast<long long>(rows), static_cast<long long>(cols), chained, separate);
    const bool same = got.values == wanted.values && got.indices == wanted.indices;
    std::printf("the answers %s\n", same ? "are the same" : "DIFFER");
    return same ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "device_chain: %s\n", failure.what());
    return 1;
  }
}
