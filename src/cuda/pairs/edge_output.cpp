#include "cuda/pairs/edge_output.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace gpu::cuda {
namespace {

// A batch keeps all threads of the receiver busy; few edges need no large ones, whose page-locked
// memory takes time to get.
constexpr std::size_t least_batch = std::size_t{1} << 14;
constexpr std::size_t most_batch = std::size_t{1} << 19;
constexpr double batches_of_result = 16;
// With fewer edges than these the host has computed p before the device would have its table.
constexpr std::uint64_t edges_worth_a_table = 1 << 12;

std::size_t choose_batch(const detail::edge_request& request, double expected, std::size_t room,
                         int batches) {
  const double part = std::min(expected / batches_of_result, static_cast<double>(most_batch));
  const std::size_t wanted = std::bit_ceil(static_cast<std::size_t>(std::max(part, 1.0)));
  const std::size_t fitting =
      std::max<std::size_t>(room / (static_cast<std::size_t>(batches) * sizeof(edge)), 1);
  return std::min({std::clamp(wanted, least_batch, most_batch),
                   static_cast<std::size_t>(request.batch_edges), fitting});
}

// Where memory is short the host fills p.
bool takes_table(const detail::edge_request& request, std::size_t room) {
  return request.p_of.table != nullptr && room >= 4 * sizeof(stats::p_table);
}

}  // namespace

std::size_t edge_output::bytes(const detail::edge_request& request, double expected,
                               std::size_t room) {
  return batch_count * (choose_batch(request, expected, room, batch_count) + 1) * sizeof(edge) +
         (takes_table(request, room) ? sizeof(stats::p_table) : 0);
}

edge_output::edge_output(const detail::edge_request& request, const detail::edge_receiver& receive,
                         double expected, std::size_t room)
    : request_(request),
      receive_(receive),
      batch_edges_(choose_batch(request, expected, room, batch_count)),
      takes_table_(takes_table(request, room)) {}

edge_output::~edge_output() {
  if (!lane_) return;
  static_cast<void>(cudaStreamSynchronize(lane_->writing.get()));
  static_cast<void>(cudaStreamSynchronize(lane_->copying.get()));
}

void edge_output::open(double expected) {
  if (expected >= static_cast<double>(edges_worth_a_table)) lane_for(edges_worth_a_table);
}

edge_output::lane& edge_output::lane_for(std::uint64_t count) {
  if (!lane_) lane_.emplace(batch_edges_);
  lane_->pushed += count;
  if (takes_table_ && lane_->p_of.table == nullptr && lane_->pushed >= edges_worth_a_table) {
    lane_->table = {1, lane_->writing.get()};
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(lane_->table.data(), request_.p_of.table,
                                              lane_->table.bytes(), cudaMemcpyHostToDevice,
                                              lane_->writing.get()));
    lane_->p_of = {lane_->table.data(), request_.p_of.side};
  }
  return *lane_;
}

void edge_output::push(const kernels::decided_edges& from, std::uint64_t count, const event& ready,
                       const event& read) {
  if (count == 0 && !lane_) return;  // nothing reads `from`
  lane& on = lane_for(count);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(on.writing.get(), ready.get()));
  for (std::uint64_t first = 0; first < count && !request_.has_enough(); first += batch_edges_) {
    batch& to = on.batches[on.next];
    on.next = (on.next + 1) % batch_count;
    hand_on(to);
    to.count = static_cast<std::size_t>(std::min<std::uint64_t>(batch_edges_, count - first));
    to.has_p = on.p_of.table != nullptr;
    kernels::launch_write_edges(from, first, to.count, on.p_of, to.device.data(), on.writing.get());
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.written.get(), on.writing.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(on.copying.get(), to.written.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to.host.data(), to.device.data(),
                                              (to.count + 1) * sizeof(edge), cudaMemcpyDeviceToHost,
                                              on.copying.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.copied.get(), on.copying.get()));
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(read.get(), on.writing.get()));
}

void edge_output::drain() {
  if (!lane_) return;
  for (int turn = 0; turn < batch_count; ++turn) {
    hand_on(lane_->batches[(lane_->next + turn) % batch_count]);
  }
}

void edge_output::hand_on(batch& from) {
  if (from.count == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(from.copied.get()));
  const std::span<edge> edges(from.host.data(), from.count);
  if (request_.p_of.table != nullptr && !from.has_p) {
    for (edge& e : edges) e.p = request_.p_of(e.statistic);
  }
  std::uint64_t sums[3];
  std::memcpy(sums, from.host.data() + from.count, sizeof sums);
  const pair_checksum checksum{.count = sums[0], .mix1 = sums[1], .mix2 = sums[2]};
  receive_({edges, &checksum});
  from.count = 0;
}

}  // namespace gpu::cuda
