// Calls on device memory take their turn on the stream that they are given, and are captured there:
// they read what the work before them leaves.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gpu/binary_matmul.hpp>
#include <gpu/matmul.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "support/catch.hpp"
#include "support/device_call.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"
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

template <class T>
std::vector<T> to_host(const gpu_test::device_array<T>& from) {
  std::vector<T> out(from.size());
  from.copy_to(out.data());
  return out;
}

/// call(values, results, exec), captured once, gives for other values what it gives by itself.
template <class T, class R, class Call>
void check_replays(const std::string& name, index_t values, index_t results, const Call& call) {
  INFO(name);
  const gpu_test::device_array<T> from(static_cast<std::size_t>(values));
  const gpu_test::device_array<R> to(static_cast<std::size_t>(results));
  const gpu_test::test_stream stream;
  const auto run = [&] {
    call(from.data(), to.data(), gpu::execution{.stream = gpu::stream_ref(stream.get())});
  };
  const auto results_of = [&](const gpu::matrix<T>& input, const auto& launch) {
    from.set(input.data());
    to.set_bytes(0x55);
    launch();
    stream.synchronize();
    return to_host(to);
  };
  const auto first = gpu_test::random_matrix<T>(1, values, 121);
  const auto second = gpu_test::tied_matrix<T>(1, values, 122);
  const std::vector<R> of_first = results_of(first, run);
  const std::vector<R> of_second = results_of(second, run);
  CHECK(of_first != of_second);
  const gpu_test::captured graph(stream.get(), run);
  const auto replay = [&] { graph.launch(stream.get()); };
  CHECK(results_of(second, replay) == of_second);
  CHECK(results_of(first, replay) == of_first);
}

void check_filters() {
  constexpr index_t size = 50'000;
  using gpu::mean_filter_variant;
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums,
                             mean_filter_variant::multi_level}) {
    const bool is_long = variant == mean_filter_variant::multi_level;
    check_replays<double, double>(
        "mean_filter, " + std::string(gpu::to_string(variant)), size, 2 * size,
        [&](const double* from, double* to, const gpu::execution& exec) {
          const gpu::device_vector_view<const double> in(from, size);
          gpu::mean_filter(in, gpu::device_vector_view<double>(to, size),
                           {.window = is_long ? 10'001 : 5,
                            .boundary = gpu::boundary::zero,
                            .variant = variant,
                            .exec = exec});
          if (is_long) return;
          // The weights given here must be those of every replay.
          std::vector<double> weights{0.25, 0.5, -1, 2, 4};
          gpu::convolve(in, std::span<const double>(weights),
                        gpu::device_vector_view<double>(to + size, size),
                        {.boundary = gpu::boundary::zero, .variant = variant, .exec = exec});
          std::fill(weights.begin(), weights.end(), 1e9);
        });
  }
}

template <class T>
void check_products() {
  constexpr index_t m = 520;
  constexpr index_t n = 530;
  constexpr index_t k = 540;
  using gpu::matmul_variant;
  for (const auto variant :
       {matmul_variant::automatic, matmul_variant::naive, matmul_variant::pitched,
        matmul_variant::shared_tiled, matmul_variant::register_tiled, matmul_variant::tensor}) {
    if (!gpu_test::applies(variant)) continue;
    gpu::matmul_options options{.variant = variant, .exec = {.target = gpu::backend::cuda}};
    const auto plan = gpu::plan_matmul<T>(m, n, k, options);
    const gpu_test::device_array<std::byte> workspace(plan.workspace_bytes);
    options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
    check_replays<T, T>("matmul, " + std::string(gpu::to_string(variant)), m * k + k * n, m * n,
                        [&](const T* from, T* to, const gpu::execution& exec) {
                          options.exec = exec;
                          gpu::matmul(gpu::device_matrix_view<const T>(from, m, k),
                                      gpu::device_matrix_view<const T>(from + m * k, k, n),
                                      gpu::device_matrix_view<T>(to, m, n), options);
                        });
  }
}

void check_products_of_bits() {
  using gpu::binary_matmul_variant;
  for (const auto variant :
       {binary_matmul_variant::popcount, binary_matmul_variant::popcount_shared,
        binary_matmul_variant::popcount_tiled, binary_matmul_variant::tensor,
        binary_matmul_variant::hopper}) {
    if (!gpu_test::applies(variant)) continue;
    check_replays<std::int32_t, std::int32_t>(
        "binary_matmul, " + std::string(gpu::to_string(variant)), 500 * 16, 300 * 200,
        [&](const std::int32_t* from, std::int32_t* to, const gpu::execution& exec) {
          const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
          gpu::binary_matmul(gpu::device_bit_matrix_view(words, 300, 512),
                             gpu::device_bit_matrix_view(words + 300 * 16, 200, 512),
                             gpu::device_matrix_view<std::int32_t>(to, 300, 200),
                             {.variant = variant, .exec = exec});
        });
  }
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

TEST_CASE("A graph gives at every launch what the call gives", "[execution][cuda]") {
  for (const index_t cols : {30, 500, 10'000}) {
    check_replays<float, double>(
        "rank_rows of " + std::to_string(cols), 20 * cols, 20 * cols,
        [&](const float* from, double* to, const gpu::execution& exec) {
          gpu::rank_rows(gpu::device_matrix_view<const float>(from, 20, cols),
                         gpu::device_matrix_view<double>(to, 20, cols), {.exec = exec});
        });
  }
  check_filters();
  check_products<float>();
  check_products<double>();
  check_products_of_bits();
  const gpu_test::device_array<float> best(20);
  const gpu_test::device_array<std::byte> workspace(
      gpu::plan_top_k<float>(1, 200'000, 20).workspace_bytes);
  check_replays<float, index_t>(
      "top_k and top_k_distinct", 200'000, 80,
      [&](const float* from, index_t* to, const gpu::execution& exec) {
        const gpu::device_vector_view<const float> in(from, 200'000);
        const gpu::device_vector_view<float> values(best.data(), 20);
        const auto twenty = [&](index_t begin) {
          return gpu::device_vector_view<index_t>(to + begin, 20);
        };
        gpu::top_k_options options{.exec = exec};
        options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
        gpu::top_k(in, 20, values, twenty(0), options);
        // Without a workspace the graph allocates and frees by itself.
        gpu::top_k_distinct(in, 20, values, twenty(20), twenty(40),
                            gpu::device_vector_view<index_t>(to + 60, 1), {.exec = exec});
      });
}
