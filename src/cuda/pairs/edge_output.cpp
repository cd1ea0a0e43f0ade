#include "cuda/pairs/edge_output.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "cuda/pairs/rows/memory_sizes.hpp"

namespace gpu::cuda {
namespace {

constexpr double batches_of_result = 16;
// Below this number of edges, computing p on the host is faster than building the device's table.
constexpr std::uint64_t edges_worth_a_table = 1 << 12;

constexpr std::size_t packed_edge_bytes = sizeof(double) + sizeof(std::uint32_t);

// Where the checksum of a batch of `count` edges stands.
std::size_t checksum_at(bool packed, std::size_t count) {
  if (!packed) return count * sizeof(edge);
  constexpr std::size_t step = alignof(pair_checksum);
  return (count * packed_edge_bytes + step - 1) / step * step;
}

bool has_passed(const event& what) {
  const cudaError_t status = cudaEventQuery(what.get());
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // is no failure, and not to be taken for one later
    return false;
  }
  GPU_SIMILARITY_CUDA_CHECK(status);
  return true;
}

}  // namespace

edge_output::batch_plan edge_output::plan_batches(double expected, std::size_t room) const {
  const bool packed =
      receiver_.takes_packed() && expected <= static_cast<double>(memory_sizes::most_packed_edges);
  batch_plan out{.packed = packed,
                 .count = packed ? packed_batches : whole_batches,
                 .edges = 0,
                 .batch_bytes = 0};
  const std::size_t edge_bytes = packed ? packed_edge_bytes : sizeof(edge);
  const double part =
      std::min(expected / batches_of_result, static_cast<double>(memory_sizes::most_batch_edges));
  const std::size_t wanted = std::bit_ceil(static_cast<std::size_t>(std::max(part, 1.0)));
  const std::size_t fitting = std::max<std::size_t>(room / (out.count * edge_bytes), 1);
  out.edges =
      std::min({std::clamp(wanted, memory_sizes::least_batch_edges, memory_sizes::most_batch_edges),
                static_cast<std::size_t>(request_.batch_edges), fitting});
  // At least one whole edge can be sent by batches for packed ones.
  out.batch_bytes = std::max(checksum_at(packed, out.edges), sizeof(edge)) + sizeof(pair_checksum);
  return out;
}

std::size_t edge_output::batch_plan::most_edges(bool pack) const {
  return pack == packed ? edges : (batch_bytes - sizeof(pair_checksum)) / sizeof(edge);
}

std::size_t edge_output::bytes() const {
  return plan_.count * plan_.batch_bytes + (takes_table_ ? sizeof(stats::p_table) : 0);
}

edge_output::lane::lane(const batch_plan& plan) {
  batches.reserve(plan.count);
  for (std::size_t i = 0; i < plan.count; ++i) {
    batches.emplace_back(plan.batch_bytes, writing.get());
  }
}

edge_output::edge_output(const detail::edge_request& request, detail::edge_receiver& receiver,
                         double expected, std::size_t room)
    : request_(request),
      receiver_(receiver),
      plan_(plan_batches(expected, room)),
      // Where memory is short the host fills p.
      takes_table_(request.p_of.table != nullptr && room >= 4 * sizeof(stats::p_table)) {}

void edge_output::open(double expected) {
  if (expected < static_cast<double>(edges_worth_a_table)) return;
  open_lane();
  if (!plan_.packed) send_table();
}

edge_output::lane& edge_output::open_lane() {
  if (!lane_) lane_.emplace(plan_);
  return *lane_;
}

void edge_output::send_table() {
  if (!takes_table_ || lane_->p_of.table != nullptr) return;
  lane_->table = upload(std::span(request_.p_of.table, 1), lane_->writing.get());
  lane_->p_of = {lane_->table.data(), request_.p_of.side};
}

void edge_output::push(const kernels::decided_edges& from, std::uint64_t count, const event& ready,
                       const event& read) {
  if (count == 0 && !lane_) return;  // nothing reads `from`
  lane& on = open_lane();
  const bool packed = plan_.packed && kernels::fits_places(from.layout);
  if (!packed) {
    on.pushed_whole += count;
    if (on.pushed_whole >= edges_worth_a_table) send_table();
  }
  const std::size_t most = plan_.most_edges(packed);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(on.writing.get(), ready.get()));
  for (std::uint64_t first = 0; first < count && receiver_.wants_more(); first += most) {
    if (on.sent == on.batches.size()) hand_on_oldest();
    batch& to = on.batches[on.next];
    to.count = static_cast<std::size_t>(std::min<std::uint64_t>(most, count - first));
    to.packed = packed;
    write(from, first, to);
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.written.get(), on.writing.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(on.copying.get(), to.written.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to.host.data(), to.device.data(),
                                              checksum_at(packed, to.count) + sizeof(pair_checksum),
                                              cudaMemcpyDeviceToHost, on.copying.get()));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(to.copied.get(), on.copying.get()));
    on.next = (on.next + 1) % on.batches.size();
    ++on.sent;
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(read.get(), on.writing.get()));
}

void edge_output::write(const kernels::decided_edges& from, std::uint64_t first, batch& to) {
  const cudaStream_t stream = lane_->writing.get();
  std::byte* const out = to.device.data();
  auto* const checksum = reinterpret_cast<pair_checksum*>(out + checksum_at(to.packed, to.count));
  if (to.packed) {
    to.layout = from.layout;
    kernels::launch_pack_edges(
        from, first, to.count,
        {.statistics = reinterpret_cast<std::uint64_t*>(out),
         .places = reinterpret_cast<std::uint32_t*>(out + to.count * sizeof(double)),
         .checksum = checksum},
        stream);
  } else {
    to.has_p = lane_->p_of.table != nullptr;
    kernels::launch_write_edges(from, first, to.count, lane_->p_of, reinterpret_cast<edge*>(out),
                                checksum, stream);
  }
}

void edge_output::wait_for(const event& what) {
  while (lane_ && lane_->sent > 0 && !has_passed(what)) {
    if (has_passed(oldest().copied)) hand_on_oldest();
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(what.get()));
}

void edge_output::drain() {
  while (lane_ && lane_->sent > 0) hand_on_oldest();
}

void edge_output::hand_on_oldest() {
  const batch& from = oldest();
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(from.copied.get()));
  std::byte* const memory = from.host.data();
  const auto* const checksum =
      reinterpret_cast<const pair_checksum*>(memory + checksum_at(from.packed, from.count));
  if (from.packed) {
    const detail::packed_edges packed{
        .statistics = reinterpret_cast<const double*>(memory),
        .places = reinterpret_cast<const std::uint32_t*>(memory + from.count * sizeof(double)),
        .count = from.count,
        .first_row = from.layout.first_row,
        .col_bits = from.layout.col_bits};
    receiver_.take_packed(packed, *checksum);
  } else {
    const std::span<edge> edges(reinterpret_cast<edge*>(memory), from.count);
    if (request_.p_of.table != nullptr && !from.has_p) {
      for (edge& e : edges) e.p = request_.p_of(e.statistic);
    }
    receiver_.take({edges, checksum});
  }
  --lane_->sent;
}

}  // namespace gpu::cuda
