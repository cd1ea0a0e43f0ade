#include "cuda/pairs/pair_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda_runtime/copies.hpp"

namespace gpu::cuda {
namespace {

static_assert(memory_sizes::least_wide_screened >=
              std::uint64_t{kernels::wide_screen.panel_rows} * kernels::wide_screen.tile_rows);

bool is_wide(const detail::screen_choice& choice) {
  return choice.depth > 128;
}

std::uint64_t queue_capacity(index_t rows, const detail::screen_choice& choice) {
  const auto count = static_cast<std::uint64_t>(std::min(rows, index_t{1} << 20));
  const std::uint64_t pairs = count * (count - 1) / 2;
  return is_wide(choice)
             ? std::clamp(pairs / memory_sizes::pairs_per_wide_screened,
                          memory_sizes::least_wide_screened, memory_sizes::most_screened)
             : std::clamp<std::uint64_t>(pairs, 1, memory_sizes::most_screened);
}

// What is expected, and somewhat more.
std::uint64_t first_capacity(const detail::screen_choice& choice, double pairs,
                             std::uint64_t most) {
  constexpr double more = 1.25;
  const double expected = std::min(more * choice.candidates * pairs, static_cast<double>(most));
  return std::min(most,
                  std::max(memory_sizes::least_screened, static_cast<std::uint64_t>(expected)));
}

// Items of about as much work as the first slice of narrow rows.
index_t first_slice_of(const detail::screen_choice& choice) {
  if (!is_wide(choice)) return least_slice;
  return std::max<index_t>(least_slice, (index_t{1} << 26) / choice.depth);
}

// What the prepared rows of an engine give a screen.
screen_origin origin_of(const device_rows& rows, const detail::screen_choice& choice) {
  if (choice.operand == kernels::screen_operand::rounded) {
    return {.source = screened_rows(rows.format(), {0, rows.count()}, rows.memory()),
            .rounding = rows.memory().rounding};
  }
  screen_origin out{.ranks = rows.ranks()};
  if (rows.format().tile == kernels::pair_tile_kind::signs) {
    out.signs = static_cast<const std::byte*>(rows.all().values);
    out.tied = &rows.tied();
  }
  return out;
}

device_buffer<std::byte> memory_of(index_t rows, const area_sides& sides,
                                   const detail::screen_choice& choice, cudaStream_t stream) {
  return {screen_search::bytes(rows, sides, choice), stream};
}

}  // namespace

std::size_t pair_screen::bytes(index_t rows, const area_sides& sides,
                               const detail::screen_choice& choice) {
  return screen_search::bytes(rows, sides, choice) +
         queue_capacity(rows, choice) *
             (sizeof(kernels::screen_candidate) + sizeof(kernels::screened_edge));
}

pair_screen::pair_screen(const device_rows& rows, const area_sides& sides,
                         const detail::screen_choice& choice, const detail::pair_cut& keep,
                         int multiprocessors, cudaStream_t stream)
    : most_capacity_(queue_capacity(rows.count(), choice)),
      first_slice_(first_slice_of(choice)),
      keep_(keep),
      multiprocessors_(multiprocessors),
      stream_(stream),
      origin_(origin_of(rows, choice)),
      memory_(memory_of(rows.count(), sides, choice, stream)),
      pieces_(memory_.data()),
      search_(rows.count(), sides, choice, pieces_),
      counters_(2, stream),
      host_counters_(2) {
  search_.pack(origin_, stream);
  allocate(first_capacity(choice, pairs(), most_capacity_));
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
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream_));
  const kernels::screen_candidates candidates{
      .list = candidates_.data(), .capacity = candidates_.size(), .count = counters_.data()};
  search_.find(choice().cut, first, last, candidates, multiprocessors_, stream_);
  search_.refine(origin_, keep_, candidates,
                 {.list = edges_.data(), .capacity = edges_.size(), .kept = counters_.data() + 1},
                 stream_);
  read_back(host_counters_.data(), counters_.data(), counters_.size(), stream_);
}

bool pair_screen::run(pair_walk& walk, const receiver& receive, const judge& pays) {
  const double pairs_per_item = this->pairs() / static_cast<double>(std::max<index_t>(items(), 1));
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
