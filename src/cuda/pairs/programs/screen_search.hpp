#pragma once
// Strict cuts on Hopper: rows ordered and packed for the warpgroup tensor cores, the pairs that may
// reach the cut, and the exact test of these: kernels/pairs/screen. For host and device results.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "kernels/pairs/signs/kernels.hpp"
#include "pairs/engine.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::cuda {

/// The prepared rows that a screen draws from.
struct screen_origin {
  kernels::screen_ranks ranks = {};                 ///< Of a screen of exact ranks.
  kernels::screen_source source = {};               ///< Of one of rounded rows,
  const kernels::row_rounding* rounding = nullptr;  ///< and how each is rounded.
  const std::byte* signs = nullptr;               ///< Rows of signs, which decide; null of others.
  const stats::kendall_decision* tied = nullptr;  ///< How these decide.
};

class screen_search {
 public:
  /// Whether there are screens of a call of this shape, for some cuts.
  static bool takes(const call_shape& shape);

  /// Takes the memory of a screen of `rows` rows, of which `sides` take part.
  screen_search(index_t rows, const area_sides& sides, const detail::screen_choice& choice,
                arena& memory);
  /// That memory.
  static std::size_t bytes(index_t rows, const area_sides& sides,
                           const detail::screen_choice& choice);

  [[nodiscard]] const detail::screen_choice& choice() const { return choice_; }
  /// Pairs that are asked for, as far as `sides` know which rows have a statistic.
  [[nodiscard]] double pairs() const { return sides_.pairs(); }
  /// Work items that cover them.
  [[nodiscard]] index_t items() const { return pairs() == 0 ? 0 : kernels::screen_items(packed_); }

  /// Orders and packs the rows.
  void pack(const screen_origin& from, cudaStream_t stream) const;
  /// Adds the pairs of items [first, last) that may reach `cut` to the candidates.
  void find(double cut, index_t first, index_t last, const kernels::screen_candidates& candidates,
            int multiprocessors, cudaStream_t stream) const;
  /// Tests the candidates exactly, and adds those that `keep` keeps to the edges.
  void refine(const screen_origin& from, const detail::pair_cut& keep,
              const kernels::screen_candidates& candidates, const kernels::screened_edges& edges,
              cudaStream_t stream) const;

 private:
  // The rows that take part, where the right side begins with a tile of its own.
  void place_sides(cudaStream_t stream) const;

  index_t rows_;
  area_sides sides_;
  detail::screen_choice choice_;
  index_t first_right_;  // packed row that the right side begins with
  kernels::screen_rows packed_{};
  std::uint32_t* order_;   // of all rows
  std::uint32_t* placed_;  // of those that take part, with the gap between the sides; or null
  std::byte* temporary_;   // of the sort
};

}  // namespace gpu::cuda
