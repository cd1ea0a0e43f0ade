#pragma once
// Runs the sinks of device results and reads what they left, as host results.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/device_sinks.hpp>

#include "support/device_table.hpp"

namespace gpu_test {

template <class T>
std::vector<T> read_array(const device_array<T>& from, cudaStream_t stream) {
  GPU_TEST_CUDA(cudaStreamSynchronize(stream));
  std::vector<T> out(from.size());
  from.copy_to(out.data());
  return out;
}

/// Launches what was captured.
class captured {
 public:
  template <class Run>
  captured(cudaStream_t stream, const Run& run) {
    GPU_TEST_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run();
    GPU_TEST_CUDA(cudaStreamEndCapture(stream, &graph_));
    GPU_TEST_CUDA(cudaGraphInstantiate(&work_, graph_, 0));
  }
  captured(const captured&) = delete;
  captured& operator=(const captured&) = delete;
  ~captured() {
    static_cast<void>(cudaGraphExecDestroy(work_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }
  void launch(cudaStream_t stream) const { GPU_TEST_CUDA(cudaGraphLaunch(work_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t work_ = nullptr;
};

/// A call on tables in device memory: one, or x and y.
template <class X, class Y = X>
struct device_call {
  gpu::measure what;
  const X& x;
  const Y* y = nullptr;
  gpu::pair_options options = {};

  template <class Sink>
  auto run(const Sink& sink) const {
    if (y != nullptr) return gpu::all_pairs(what, x.view(), y->view(), options, sink);
    return gpu::all_pairs(what, x.view(), options, sink);
  }
  [[nodiscard]] cudaStream_t stream() const { return options.exec.stream.get(); }
  [[nodiscard]] gpu::index_t cols() const {
    return y == nullptr ? x.view().rows() : y->view().rows();
  }

  template <class Value>
  gpu::matrix<Value> dense(gpu::index_t rows, gpu::index_t gap) const {
    const device_table<Value> out(rows, cols(), gap);
    run(gpu::basic_device_dense_sink<Value>{.out = out.view()});
    return out.read(stream());
  }

  gpu::neighbor_table top_k(gpu::index_t rows, const gpu::top_k_sink& asked,
                            gpu::index_t gap) const {
    const device_table<gpu::node_id> index(rows, asked.k, gap);
    const device_table<double> statistic(rows, asked.k, gap);
    const device_array<gpu::node_id> count(static_cast<std::size_t>(rows));
    count.set_bytes(0x5a);
    run(gpu::device_top_k_sink{.index = index.view(),
                               .statistic = statistic.view(),
                               .count = {count.data(), rows},
                               .keep = asked.keep,
                               .order = asked.order});
    gpu::neighbor_table out;
    out.index = index.read(stream());
    out.statistic = statistic.read(stream());
    out.count = read_array(count, stream());
    return out;
  }

  struct counts_result {
    std::vector<std::uint32_t> degree;
    std::vector<std::uint32_t> y_degree;
    std::vector<std::uint64_t> histogram;
    std::vector<std::uint64_t> totals;
  };
  counts_result counts(const gpu::count_sink& asked) const {
    const gpu::index_t rows = x.view().rows();
    const gpu::index_t more = y == nullptr ? 0 : y->view().rows();
    const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
    const device_array<std::uint32_t> y_degree(static_cast<std::size_t>(more));
    const device_array<std::uint64_t> histogram(static_cast<std::size_t>(asked.histogram_bins));
    const device_array<std::uint64_t> totals(3);
    degree.set_bytes(0x5a);
    y_degree.set_bytes(0x5a);
    histogram.set_bytes(0x5a);
    totals.set_bytes(0x5a);
    run(gpu::device_count_sink{.degree = {degree.data(), rows},
                               .y_degree = {y_degree.data(), more},
                               .histogram = {histogram.data(), asked.histogram_bins},
                               .totals = {totals.data(), 3},
                               .keep = asked.keep});
    return {read_array(degree, stream()), read_array(y_degree, stream()),
            read_array(histogram, stream()), read_array(totals, stream())};
  }

  struct edges_result {
    std::uint64_t found;
    std::vector<gpu::edge> edges;  // those that fitted
  };
  edges_result edges(const gpu::pair_filter& keep, std::size_t capacity) const {
    const device_array<gpu::edge> list(capacity);
    const device_array<std::uint64_t> found(1);
    list.set_bytes(0x5a);
    found.set_bytes(0x5a);
    run(gpu::device_edge_sink{.edges = {list.data(), static_cast<gpu::index_t>(capacity)},
                              .found = {found.data(), 1},
                              .keep = keep});
    edges_result out{read_array(found, stream()).front(), read_array(list, stream())};
    if (out.found < capacity) out.edges.resize(static_cast<std::size_t>(out.found));
    return out;
  }
};

}  // namespace gpu_test
