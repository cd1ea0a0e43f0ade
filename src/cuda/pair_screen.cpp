#include "cuda/pair_screen.hpp"

#include <algorithm>
#include <chrono>

namespace gpu::cuda {
namespace {

// One work item can never overflow the queue: it has fewer pairs than this.
constexpr std::uint64_t most_queued = std::uint64_t{25} << 20;
constexpr std::size_t copied_edges = std::size_t{1} << 18;
// Items of a launch: from a first guess towards this time, so that progress and cancellation come
// a few times a second.
constexpr index_t first_slice = 1024;
constexpr double slice_seconds = 0.1;

std::uint64_t queue_capacity(index_t rows) {
  const auto count = static_cast<std::uint64_t>(std::min(rows, index_t{1} << 16));
  return std::clamp<std::uint64_t>(count * (count - 1) / 2, 1, most_queued);
}

index_t padded_rows(index_t rows) {
  return (rows + kernels::screen_row_multiple - 1) / kernels::screen_row_multiple *
         kernels::screen_row_multiple;
}

}  // namespace

std::size_t pair_screen::bytes(index_t rows, const detail::screen_choice& choice) {
  const auto padded = static_cast<std::size_t>(padded_rows(rows));
  const std::size_t packed = padded * static_cast<std::size_t>(choice.depth);
  const std::size_t queues =
      queue_capacity(rows) * (sizeof(kernels::screen_candidate) + sizeof(kernels::screened_edge));
  return padded * (sizeof(std::uint32_t) + 1) + packed + queues + kernels::screen_order_bytes(rows);
}

pair_screen::pair_screen(const pair_rows& rows, index_t invalid,
                         const detail::screen_choice& choice, const detail::keep_range& keep,
                         int multiprocessors, cudaStream_t stream)
    : capacity_(queue_capacity(rows.count())),
      keep_(keep),
      cut_(choice.cut),
      multiprocessors_(multiprocessors),
      stream_(stream),
      order_(static_cast<std::size_t>(rows.count()), stream),
      candidates_(capacity_, stream),
      edges_(capacity_, stream),
      counters_(2, stream),
      host_counters_(2),
      host_edges_(copied_edges) {
  const kernels::pair_operand all = rows.all();
  ranks_ = {.ranks = static_cast<const std::int8_t*>(all.values),
            .stride = all.pitch,
            .cols = rows.format().cols,
            .square_sums = all.square_sums};
  const index_t cols = rows.format().cols;
  {
    const device_buffer<std::byte> temporary(kernels::screen_order_bytes(rows.count()), stream);
    kernels::launch_screen_order(all.square_sums, rows.count(), cols * (cols * cols - 1) / 3,
                                 order_.data(), temporary.data(), stream);
  }
  const index_t valid = rows.count() - invalid;
  const index_t padded = padded_rows(valid);
  tiles_ = {static_cast<std::size_t>(padded * choice.depth), stream};
  blocks_ = {static_cast<std::size_t>(padded / kernels::screen_block_rows), stream};
  tile_bounds_ = {static_cast<std::size_t>(padded / kernels::screen_least_tile_rows + 1), stream};
  packed_ = {.operand = choice.operand,
             .depth = choice.depth,
             .rows = valid,
             .padded_rows = padded,
             .order = order_.data() + invalid,
             .tiles = tiles_.data(),
             .blocks = blocks_.data(),
             .tile_bounds = tile_bounds_.data()};
  kernels::launch_screen_pack(ranks_, packed_, stream);
}

double pair_screen::pairs() const {
  const auto rows = static_cast<double>(packed_.rows);
  return rows * (rows - 1) / 2;
}

bool pair_screen::find(index_t first, index_t last) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream_));
  kernels::launch_screen(packed_, cut_, first, last, candidates_.data(), capacity_,
                         counters_.data(), multiprocessors_, stream_);
  kernels::launch_screen_refine(ranks_, packed_, keep_.at_least, keep_.at_most, candidates_.data(),
                                counters_.data(), capacity_, edges_.data(), counters_.data() + 1,
                                stream_);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_counters_.data(), counters_.data(),
                                            counters_.bytes(), cudaMemcpyDeviceToHost, stream_));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return host_counters_.data()[0] <= capacity_;
}

void pair_screen::deliver(const receiver& receive) {
  const std::uint64_t kept = host_counters_.data()[1];
  for (std::uint64_t first = 0; first < kept; first += copied_edges) {
    const std::size_t count = std::min<std::size_t>(copied_edges, kept - first);
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_edges_.data(), edges_.data() + first,
                                              count * sizeof(kernels::screened_edge),
                                              cudaMemcpyDeviceToHost, stream_));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
    receive({host_edges_.data(), count});
  }
}

bool pair_screen::run(pair_progress& progress, const receiver& receive, const judge& proceed) {
  if (packed_.rows < 2) return true;
  const index_t items = kernels::screen_items(packed_);
  const double pairs_per_item = pairs() / static_cast<double>(items);
  std::uint64_t candidates = 0;
  index_t slice = first_slice;
  for (index_t first = 0; first < items;) {
    const index_t last = std::min(items, first + slice);
    const auto start = std::chrono::steady_clock::now();
    const bool fits = find(first, last);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    candidates += host_counters_.data()[0];
    if (!proceed(candidates, static_cast<double>(last) * pairs_per_item)) return false;
    if (!fits) {  // nothing is dropped: the same items again, fewer at a time
      candidates -= host_counters_.data()[0];
      slice = std::max<index_t>(1, (last - first) / 4);
      continue;
    }
    deliver(receive);
    progress.advance(
        static_cast<std::uint64_t>(static_cast<double>(last - first) * pairs_per_item));
    first = last;
    const double wanted = static_cast<double>(slice) * slice_seconds / std::max(seconds, 1e-4);
    slice = std::clamp(static_cast<index_t>(wanted), std::max<index_t>(1, slice / 4), slice * 4);
  }
  return true;
}

}  // namespace gpu::cuda
