#include "cuda/pairs/hopper/found_edges.hpp"

#include <algorithm>
#include <utility>

namespace gpu::cuda {
namespace {

constexpr std::uint64_t first_found_capacity = std::uint64_t{1} << 16;

}  // namespace

found_edges::found_edges(const detail::pair_area& area, std::uint64_t most, cudaStream_t stream)
    : layout_(kernels::edge_key_layout::of_rows(area.rows.begin, area.rows.end, area.cols.begin,
                                                area.cols.size())),
      most_(most),
      stream_(stream),
      buffer_(std::min(most, first_found_capacity), stream) {}

void found_edges::add(const kernels::screened_edge* found, std::uint64_t count) {
  const std::uint64_t needed = count_ + count;
  if (needed > buffer_.capacity()) {
    candidate_buffer larger(std::max(needed, 2 * buffer_.capacity()), stream_);
    const candidate_places from = buffer_.places();
    const candidate_places to = larger.places();
    const auto copy = [&](std::uint64_t* there, const std::uint64_t* here) {
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(there, here, count_ * sizeof(std::uint64_t),
                                                cudaMemcpyDeviceToDevice, stream_));
    };
    copy(to.keys, from.keys);
    copy(to.values, from.values);
    std::swap(buffer_, larger);
  }
  const candidate_places places = buffer_.places();
  kernels::launch_key_screened(found, count, nullptr, layout_, places.keys + count_,
                               places.values + count_, stream_);
  count_ = needed;
}

void found_edges::sort() {
  candidate_buffer other(count_, stream_);
  const device_buffer<std::byte> scratch(kernels::sort_scratch_bytes(count_), stream_);
  const int result = sort_candidates({buffer_.places(), other.places()}, count_, layout_.bits,
                                     {scratch.data(), scratch.bytes()}, stream_);
  if (result == 1) std::swap(buffer_, other);
}

}  // namespace gpu::cuda
