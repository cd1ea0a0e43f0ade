#pragma once
// Strict cuts on Hopper: screens all pairs of the prepared rows at the rate of the tensor cores
// and tests exactly what is left.

#include <cstdint>
#include <functional>

#include "cuda/pairs/programs/screen_search.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::cuda {

class pair_screen {
 public:
  /// Device memory that a screen of `rows` rows takes.
  static std::size_t bytes(index_t rows, const area_sides& sides,
                           const detail::screen_choice& choice);

  /// Orders and packs the rows that take part. `rows` are resident and outlive the screen.
  pair_screen(const device_rows& rows, const area_sides& sides, const detail::screen_choice& choice,
              const detail::pair_cut& keep, int multiprocessors, cudaStream_t stream);

  [[nodiscard]] const detail::screen_choice& choice() const { return search_.choice(); }

  /// Receives so many kept pairs in device memory, in no order, ordered on the stream; they are
  /// valid there until it returns.
  using receiver = std::function<void(const kernels::screened_edge*, std::uint64_t)>;
  /// Whether the screen is worth going on with, after `pairs` pairs that left `candidates`.
  using judge = std::function<bool(double pairs, std::uint64_t candidates)>;

  /// What the walk of run() goes over.
  [[nodiscard]] index_t items() const { return search_.items(); }
  /// Pairs that are asked for, of rows that have a statistic.
  [[nodiscard]] double pairs() const { return search_.pairs(); }
  /// Finds every kept pair of this engine's share of `walk`. Returns false where `pays` returned
  /// false on one of the devices before anything had been committed.
  bool run(pair_walk& walk, const receiver& receive, const judge& pays);

 private:
  void allocate(std::uint64_t capacity);
  // Candidates of items [first, last), refined; false where they overflow the largest queue.
  bool find(index_t first, index_t last);
  void search(index_t first, index_t last);

  std::uint64_t most_capacity_;  // of the queues
  index_t first_slice_;          // items of the first launch
  detail::pair_cut keep_;
  int multiprocessors_;
  cudaStream_t stream_;
  screen_origin origin_;
  device_buffer<std::byte> memory_;
  arena pieces_;  // of the memory
  screen_search search_;
  device_buffer<kernels::screen_candidate> candidates_;
  device_buffer<kernels::screened_edge> edges_;
  device_buffer<std::uint64_t> counters_;  // candidates, kept
  pinned_buffer<std::uint64_t> host_counters_;
};

}  // namespace gpu::cuda
