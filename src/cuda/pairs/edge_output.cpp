#include "cuda/pairs/edge_output.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace gpu::cuda {
namespace {

// A batch keeps all threads of the receiver busy; few edges need no large ones, whose page-locked
// memory takes time to get.
constexpr std::size_t least_batch = std::size_t{1} << 16;
constexpr std::size_t most_batch = std::size_t{1} << 20;
constexpr double batches_of_result = 8;

std::size_t choose_batch(const detail::edge_request& request, double expected, std::size_t room) {
  const double part = std::min(expected / batches_of_result, static_cast<double>(most_batch));
  const std::size_t wanted = std::bit_ceil(static_cast<std::size_t>(std::max(part, 1.0)));
  const std::size_t fitting = std::max<std::size_t>(room / (2 * sizeof(edge)), 1);
  return std::min({std::clamp(wanted, least_batch, most_batch),
                   static_cast<std::size_t>(request.batch_edges), fitting});
}

// In little room the host fills p.
bool takes_table(const detail::edge_request& request, std::size_t room) {
  return request.p_of.table != nullptr && room >= 4 * sizeof(stats::p_table);
}

}  // namespace

std::size_t edge_output::bytes(const detail::edge_request& request, double expected,
                               std::size_t room) {
  return 2 * choose_batch(request, expected, room) * sizeof(edge) +
         (takes_table(request, room) ? sizeof(stats::p_table) : 0);
}

edge_output::edge_output(const detail::edge_request& request, const detail::edge_receiver& receive,
                         double expected, std::size_t room)
    : request_(request),
      receive_(receive),
      batch_edges_(choose_batch(request, expected, room)),
      batches_{batch(batch_edges_, writing_.get()), batch(batch_edges_, writing_.get())} {
  if (!takes_table(request, room)) return;
  table_ = {1, writing_.get()};
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(table_.data(), request.p_of.table, table_.bytes(),
                                            cudaMemcpyHostToDevice, writing_.get()));
  p_of_ = {table_.data(), request.p_of.side};
}

edge_output::~edge_output() {
  static_cast<void>(cudaStreamSynchronize(writing_.get()));
  static_cast<void>(cudaStreamSynchronize(copying_.get()));
}

void edge_output::push(const kernels::decided_edges& from, std::uint64_t count, const event& ready,
                       const event& read) {
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(writing_.get(), ready.get()));
  for (std::uint64_t first = 0; first < count && !request_.has_enough(); first += batch_edges_) {
    batch& to = batches_[next_];
    next_ = 1 - next_;
    hand_on(to);
    to.count = static_cast<std::size_t>(std::min<std::uint64_t>(batch_edges_, count - first));
    kernels::launch_write_edges(from, first, to.count, p_of_, to.device.data(), writing_.get());
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.written.get(), writing_.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(copying_.get(), to.written.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to.host.data(), to.device.data(),
                                              to.count * sizeof(edge), cudaMemcpyDeviceToHost,
                                              copying_.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.copied.get(), copying_.get()));
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(read.get(), writing_.get()));
}

void edge_output::drain() {
  hand_on(batches_[next_]);
  hand_on(batches_[1 - next_]);
}

void edge_output::hand_on(batch& from) {
  if (from.count == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(from.copied.get()));
  const std::span<edge> edges(from.host.data(), from.count);
  if (request_.p_of.table != nullptr && p_of_.table == nullptr) {
    for (edge& e : edges) e.p = request_.p_of(e.statistic);
  }
  receive_(edges);
  from.count = 0;
}

}  // namespace gpu::cuda
