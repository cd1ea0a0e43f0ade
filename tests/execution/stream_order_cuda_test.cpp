// Calls on device memory take their turn on the stream that they are given: they read what the work
// before them leaves there.

#include <atomic>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gpu/matmul.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "support/catch.hpp"
#include "support/device_memory.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;

constexpr index_t rows = 60;
constexpr auto elements = static_cast<std::size_t>(rows * rows);

/// A stream on which nothing runs until it is let go, or 20 seconds have passed.
class held_stream {
 public:
  held_stream() { GPU_TEST_CUDA(cudaLaunchHostFunc(stream_.get(), &wait, &is_free_)); }
  held_stream(const held_stream&) = delete;
  held_stream& operator=(const held_stream&) = delete;
  ~held_stream() {
    is_free_ = true;
    static_cast<void>(cudaStreamSynchronize(stream_.get()));
  }
  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  void let_go() {
    is_free_ = true;
    stream_.synchronize();
  }

 private:
  static void CUDART_CB wait(void* opaque) {
    const auto& is_free = *static_cast<const std::atomic<bool>*>(opaque);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_free && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::atomic<bool> is_free_{false};
  gpu_test::test_stream stream_;
};

using matrix = gpu::device_matrix_view<double>;

/// One operation from a matrix [rows, rows] to another.
struct operation {
  std::string name;
  std::function<void(matrix from, matrix to, const gpu::execution& exec)> run;
};

std::vector<operation> all_operations() {
  return {
      {"rank_rows", [](matrix from, matrix to,
                       const gpu::execution& exec) { gpu::rank_rows(from, to, {.exec = exec}); }},
      {"mean_filter",
       [](matrix from, matrix to, const gpu::execution& exec) {
         gpu::mean_filter(from, to, {.window = 5, .exec = exec});
       }},
      {"convolve",
       [](matrix from, matrix to, const gpu::execution& exec) {
         const std::vector<double> weights{1, 2, 3};
         gpu::convolve(from, weights, to, {.exec = exec});
       }},
      {"top_k",
       [](matrix from, matrix to, const gpu::execution& exec) {
         static const gpu_test::device_array<index_t> indices(elements);
         gpu::top_k(from, rows, to, gpu::device_matrix_view<index_t>(indices.data(), rows, rows),
                    {.exec = exec});
       }},
      {"matmul", [](matrix from, matrix to, const gpu::execution& exec) {
         gpu::matmul(from, from, to, {.exec = exec});
       }}};
}

std::vector<double> to_host(const gpu_test::device_array<double>& from) {
  std::vector<double> out(from.size());
  from.copy_to(out.data());
  return out;
}

}  // namespace

TEST_CASE("Calls take their turn on the stream", "[execution][cuda]") {
  const auto values = gpu_test::random_matrix<double>(rows, rows, 3);
  const gpu_test::device_array<double> later(values.data(), elements);
  const gpu_test::device_array<double> data(elements);
  const gpu_test::device_array<double> out(elements);
  const auto view_of = [](const gpu_test::device_array<double>& array) {
    return matrix(array.data(), rows, rows);
  };
  for (const operation& call : all_operations()) {
    INFO(call.name);
    // Also loads the kernels, which may not wait for a stream that is held.
    const gpu_test::test_stream free_stream;
    call.run(view_of(later), view_of(out),
             {.target = gpu::backend::cuda, .stream = gpu::stream_ref(free_stream.get())});
    free_stream.synchronize();
    const std::vector<double> wanted = to_host(out);
    data.set_bytes(0);
    out.set_bytes(0);
    held_stream stream;
    GPU_TEST_CUDA(cudaMemcpyAsync(data.data(), later.data(), elements * sizeof(double),
                                  cudaMemcpyDeviceToDevice, stream.get()));
    call.run(view_of(data), view_of(out),
             {.target = gpu::backend::cuda, .stream = gpu::stream_ref(stream.get())});
    stream.let_go();
    CHECK(to_host(out) == wanted);
  }
}
