// Small calls: what each operation costs beside its arithmetic. Device overloads on resident data
// with the caller's workspace, timed three ways:
//   call   host time of a call that only puts work on the stream, 64 of them between two waits
//   wait   host time of a call and of waiting for its stream
//   graph  device time of a call within a CUDA graph of 64 captured calls
// All-pairs calls take host memory and block: their `wait` alone.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gpu/all_pairs.hpp>
#include <gpu/binary_matmul.hpp>
#include <gpu/matmul.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "common/cuda_timing.hpp"
#include "common/data.hpp"

namespace {

using gpu::index_t;
using gpu_bench::check;
using gpu_bench::device_array;
using work_on = std::function<void(cudaStream_t)>;

constexpr int batch = 64;
constexpr int repeats = 40;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void time_calls(benchmark::State& state, const work_on& work) {
  gpu_bench::device_timer timer;
  const auto batch_of_calls = [&] {
    for (int i = 0; i < batch; ++i) work(timer.stream());
  };
  batch_of_calls();
  for (auto _ : state) {
    check(cudaStreamSynchronize(timer.stream()));
    state.SetIterationTime(seconds_of(batch_of_calls) / batch);
  }
  check(cudaStreamSynchronize(timer.stream()));
}

void time_waits(benchmark::State& state, const work_on& work) {
  gpu_bench::device_timer timer;
  const auto call_and_wait = [&] {
    work(timer.stream());
    check(cudaStreamSynchronize(timer.stream()));
  };
  for (int i = 0; i < batch; ++i) call_and_wait();
  for (auto _ : state) state.SetIterationTime(seconds_of(call_and_wait));
}

void time_graph(benchmark::State& state, const work_on& work) {
  gpu_bench::device_timer timer;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  work(timer.stream());
  check(cudaStreamSynchronize(timer.stream()));
  check(cudaStreamBeginCapture(timer.stream(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < batch; ++i) work(timer.stream());
  check(cudaStreamEndCapture(timer.stream(), &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  const auto replay = [&](cudaStream_t stream) { check(cudaGraphLaunch(ready, stream)); };
  static_cast<void>(timer.time(replay));
  for (auto _ : state) state.SetIterationTime(timer.time(replay) / batch);
  check(cudaGraphExecDestroy(ready));
  check(cudaGraphDestroy(graph));
}

void time_all(const std::string& name, const std::function<work_on()>& prepare) {
  const auto add = [&](const char* how, void (*time)(benchmark::State&, const work_on&)) {
    benchmark::RegisterBenchmark(("cuda_latency/" + name + "/" + how).c_str(),
                                 [=](benchmark::State& state) { time(state, prepare()); })
        ->UseManualTime()
        ->Iterations(repeats)
        ->Unit(benchmark::kMicrosecond);
  };
  add("call", time_calls);
  add("wait", time_waits);
  add("graph", time_graph);
}

gpu::execution on_stream(cudaStream_t stream) {
  return {.target = gpu::backend::cuda, .stream = gpu::stream_ref(stream)};
}

// Device memory that lives as long as the work that uses it.
template <class T>
std::shared_ptr<device_array<T>> random_on_device(index_t size) {
  return std::make_shared<device_array<T>>(gpu_bench::random_values<T>(size));
}
template <class T>
std::shared_ptr<device_array<T>> room(std::size_t size) {
  return std::make_shared<device_array<T>>(std::max<std::size_t>(size, 256));
}

template <class T>
work_on mean_filter_work(index_t size, index_t window,
                         gpu::mean_filter_variant variant = gpu::mean_filter_variant::automatic) {
  return [=, in = random_on_device<T>(size),
          out = room<T>(static_cast<std::size_t>(size))](cudaStream_t stream) {
    gpu::mean_filter(gpu::device_vector_view<const T>(in->data(), size),
                     gpu::device_vector_view<T>(out->data(), size),
                     {.window = window, .variant = variant, .exec = on_stream(stream)});
  };
}

template <class T>
work_on top_k_work(index_t size, index_t k) {
  const gpu::top_k_options options{.exec = {.target = gpu::backend::cuda}};
  const std::size_t bytes = gpu::plan_top_k<T>(1, size, k, options).workspace_bytes;
  return [=, in = random_on_device<T>(size), values = room<T>(static_cast<std::size_t>(k)),
          indices = room<index_t>(static_cast<std::size_t>(k)),
          workspace = room<std::byte>(bytes)](cudaStream_t stream) {
    gpu::top_k(gpu::device_vector_view<const T>(in->data(), size), k,
               gpu::device_vector_view<T>(values->data(), k),
               gpu::device_vector_view<index_t>(indices->data(), k),
               {.workspace = {workspace->data(), static_cast<index_t>(workspace->size())},
                .exec = on_stream(stream)});
  };
}

template <class T>
work_on top_k_distinct_work(index_t size, index_t k) {
  const gpu::top_k_options options{.exec = {.target = gpu::backend::cuda}};
  const std::size_t bytes = gpu::plan_top_k_distinct<T>(1, size, k, options).workspace_bytes;
  return [=, in = random_on_device<T>(size), values = room<T>(static_cast<std::size_t>(k)),
          indices = room<index_t>(static_cast<std::size_t>(k)),
          counts = room<index_t>(static_cast<std::size_t>(k)), found = room<index_t>(1),
          workspace = room<std::byte>(bytes)](cudaStream_t stream) {
    gpu::top_k_distinct(gpu::device_vector_view<const T>(in->data(), size), k,
                        gpu::device_vector_view<T>(values->data(), k),
                        gpu::device_vector_view<index_t>(indices->data(), k),
                        gpu::device_vector_view<index_t>(counts->data(), k),
                        gpu::device_vector_view<index_t>(found->data(), 1),
                        {.workspace = {workspace->data(), static_cast<index_t>(workspace->size())},
                         .exec = on_stream(stream)});
  };
}

template <class T>
work_on rank_work(index_t rows, index_t cols) {
  return [=, in = random_on_device<T>(rows * cols),
          out = room<double>(static_cast<std::size_t>(rows * cols))](cudaStream_t stream) {
    gpu::rank_rows(gpu::device_matrix_view<const T>(in->data(), rows, cols),
                   gpu::device_matrix_view<double>(out->data(), rows, cols),
                   {.exec = on_stream(stream)});
  };
}

template <class T>
work_on matmul_work(index_t size) {
  const std::size_t bytes =
      gpu::plan_matmul<T>(size, size, size, {.exec = {.target = gpu::backend::cuda}})
          .workspace_bytes;
  const index_t count = size * size;
  return [=, a = random_on_device<T>(count), b = random_on_device<T>(count),
          c = room<T>(static_cast<std::size_t>(count)),
          workspace = room<std::byte>(bytes)](cudaStream_t stream) {
    gpu::matmul(gpu::device_matrix_view<const T>(a->data(), size, size),
                gpu::device_matrix_view<const T>(b->data(), size, size),
                gpu::device_matrix_view<T>(c->data(), size, size),
                {.workspace = gpu::device_workspace(workspace->data(),
                                                    static_cast<index_t>(workspace->size())),
                 .exec = on_stream(stream)});
  };
}

work_on binary_matmul_work(index_t size) {
  const std::size_t bytes =
      gpu::plan_binary_matmul(size, size, size, {.exec = {.target = gpu::backend::cuda}})
          .workspace_bytes;
  const index_t words = size * gpu::bit_words(size);
  return [=, a = random_on_device<std::uint32_t>(words), b = random_on_device<std::uint32_t>(words),
          c = room<std::int32_t>(static_cast<std::size_t>(size * size)),
          workspace = room<std::byte>(bytes)](cudaStream_t stream) {
    gpu::binary_matmul(gpu::device_bit_matrix_view(a->data(), size, size),
                       gpu::device_bit_matrix_view(b->data(), size, size),
                       gpu::device_matrix_view<std::int32_t>(c->data(), size, size),
                       {.workspace = gpu::device_workspace(workspace->data(),
                                                           static_cast<index_t>(workspace->size())),
                        .exec = on_stream(stream)});
  };
}

// The floor of `graph` and `call`: a copy of the same row.
work_on copy_work(index_t size) {
  return [=, in = random_on_device<double>(size),
          out = room<double>(static_cast<std::size_t>(size))](cudaStream_t stream) {
    check(cudaMemcpyAsync(out->data(), in->data(), in->bytes(), cudaMemcpyDeviceToDevice, stream));
  };
}

template <class Sink>
void time_pairs(const char* name, const Sink& sink) {
  benchmark::RegisterBenchmark(
      (std::string("cuda_latency/") + name + "/wait").c_str(),
      [=](benchmark::State& state) {
        const auto data = gpu_bench::random_values<float>(1000 * 30);
        const gpu::matrix_view<const float> view(data.data(), 1000, 30);
        const gpu::pair_options options{.exec = {.target = gpu::backend::cuda}};
        const auto call = [&] {
          benchmark::DoNotOptimize(gpu::spearman_all_pairs(view, options, sink));
        };
        for (int i = 0; i < 8; ++i) call();
        for (auto _ : state) state.SetIterationTime(seconds_of(call));
      })
      ->UseManualTime()
      ->Iterations(repeats)
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  time_all("copy 1000 double", [] { return copy_work(1000); });
  time_all("mean_filter 1000 double w 5", [] { return mean_filter_work<double>(1000, 5); });
  time_all("mean_filter 1000 double w 101", [] { return mean_filter_work<double>(1000, 101); });
  time_all("mean_filter 1000 float w 5", [] { return mean_filter_work<float>(1000, 5); });
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
    for (const index_t window : {5, 101}) {
      time_all("mean_filter 1000 double w " + std::to_string(window) + " " +
                   std::string(gpu::to_string(variant)),
               [=] { return mean_filter_work<double>(1000, window, variant); });
    }
  }
  time_all("top_k 1000 float k 20", [] { return top_k_work<float>(1000, 20); });
  time_all("top_k 1000 int32 k 20", [] { return top_k_work<std::int32_t>(1000, 20); });
  time_all("top_k_distinct 1000 int32 k 20",
           [] { return top_k_distinct_work<std::int32_t>(1000, 20); });
  time_all("rank_rows 1 x 1000 float", [] { return rank_work<float>(1, 1000); });
  time_all("rank_rows 1000 x 30 float", [] { return rank_work<float>(1000, 30); });
  time_all("matmul 100 float", [] { return matmul_work<float>(100); });
  time_all("matmul 1000 float", [] { return matmul_work<float>(1000); });
  time_all("binary_matmul 1000", [] { return binary_matmul_work(1000); });
  time_pairs("spearman 1000 x 30 count", gpu::count_sink{.keep = {.max_p = 0.05}});
  time_pairs("spearman 1000 x 30 edges", gpu::edge_sink{.keep = {.max_p = 1e-4}});
  return true;
}();

}  // namespace
