#include "cuda/pairs/hopper/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cuda/pairs/team/walk_items.hpp"

namespace gpu::cuda {
namespace {

// One work item can never overflow the queue: it has fewer pairs than this.
constexpr std::uint64_t most_queued = std::uint64_t{25} << 20;
// The usual size: strict cuts rarely find more. Memory that is never used still has to be mapped.
constexpr std::uint64_t first_queued = std::uint64_t{2} << 20;
// For wide rows, whose items are single tiles, the queue holds twice the largest share of
// candidates with which the screen pays.
constexpr std::uint64_t least_wide_queued = std::uint64_t{1} << 16;
static_assert(least_wide_queued >=
              std::uint64_t{kernels::wide_screen.panel_rows} * kernels::wide_screen.tile_rows);
constexpr std::uint64_t pairs_per_wide_queued = 256;

bool is_wide(const detail::screen_choice& choice) {
  return choice.depth > 128;
}

std::uint64_t queue_capacity(index_t rows, const detail::screen_choice& choice) {
  const auto count = static_cast<std::uint64_t>(std::min(rows, index_t{1} << 20));
  const std::uint64_t pairs = count * (count - 1) / 2;
  return is_wide(choice) ? std::clamp(pairs / pairs_per_wide_queued, least_wide_queued, most_queued)
                         : std::clamp<std::uint64_t>(pairs, 1, most_queued);
}

// Items of about as much work as the first slice of narrow rows.
index_t first_slice_of(const detail::screen_choice& choice) {
  if (!is_wide(choice)) return least_slice;
  return std::max<index_t>(least_slice, (index_t{1} << 26) / choice.depth);
}

screen_input pack(const device_rows& rows, const area_sides& sides,
                  const detail::screen_choice& choice, cudaStream_t stream) {
  if (choice.operand == kernels::screen_operand::rounded) {
    return {rows, sides, choice.depth, stream};
  }
  return {rows, sides, choice.operand, choice.depth, stream};
}

}  // namespace

std::size_t pair_screen::bytes(index_t rows, const detail::screen_choice& choice) {
  const std::size_t packed = choice.operand == kernels::screen_operand::rounded
                                 ? screen_input::rounded_bytes(rows, choice.depth)
                                 : screen_input::bytes(rows, choice.depth);
  return packed + queue_capacity(rows, choice) *
                      (sizeof(kernels::screen_candidate) + sizeof(kernels::screened_edge));
}

pair_screen::pair_screen(const device_rows& rows, const area_sides& sides,
                         const detail::screen_choice& choice, const detail::pair_cut& keep,
                         int multiprocessors, cudaStream_t stream)
    : most_capacity_(queue_capacity(rows.count(), choice)),
      first_slice_(first_slice_of(choice)),
      keep_(keep),
      choice_(choice),
      multiprocessors_(multiprocessors),
      stream_(stream),
      packed_(pack(rows, sides, choice, stream)),
      counters_(2, stream),
      host_counters_(2) {
  allocate(std::min(most_capacity_, first_queued));
}

void pair_screen::allocate(std::uint64_t capacity) {
  candidates_ = {};
  edges_ = {};
  candidates_ = {capacity, stream_};
  edges_ = {capacity, stream_};
}

bool pair_screen::find(index_t first, index_t last) {
  const auto fits = [&] { return host_counters_.data()[0] <= candidates_.size(); };
  search(first, last);
  if (!fits() && candidates_.size() < most_capacity_) {
    allocate(most_capacity_);
    search(first, last);
  }
  return fits();
}

void pair_screen::search(index_t first, index_t last) {
  const std::uint64_t capacity = candidates_.size();
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream_));
  kernels::launch_screen(packed_.rows(), choice_.cut, first, last, candidates_.data(), capacity,
                         counters_.data(), multiprocessors_, stream_);
  packed_.refine(keep_, candidates_.data(), counters_.data(), capacity, edges_.data(),
                 counters_.data() + 1, stream_);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_counters_.data(), counters_.data(),
                                            counters_.bytes(), cudaMemcpyDeviceToHost, stream_));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

index_t pair_screen::items() const {
  return packed_.pairs() == 0 ? 0 : kernels::screen_items(packed_.rows());
}

bool pair_screen::run(pair_walk& walk, const receiver& receive, const judge& pays) {
  const double pairs_per_item =
      packed_.pairs() / static_cast<double>(std::max<index_t>(items(), 1));
  std::uint64_t candidates = 0;
  double pairs = 0;
  return walk_items(
      walk, items(),
      [&](index_t first, index_t last) {
        const bool fits = find(first, last);
        const std::uint64_t found = host_counters_.data()[0];
        const double pairs_here = static_cast<double>(last - first) * pairs_per_item;
        if (!pays(pairs + pairs_here, candidates + found) && walk.give_up()) {
          return slice_outcome::stop;
        }
        if (!fits) {  // nothing is dropped
          if (last - first > 1) return slice_outcome::repeat;
          throw std::logic_error(
              fmt::format("pair_screen: {} candidates of one item, expected at most {}", found,
                          most_capacity_));
        }
        candidates += found;
        pairs += pairs_here;
        if (host_counters_.data()[1] > 0) receive(edges_.data(), host_counters_.data()[1]);
        walk.advance(static_cast<std::uint64_t>(pairs_here));
        return slice_outcome::done;
      },
      first_slice_);
}

}  // namespace gpu::cuda
