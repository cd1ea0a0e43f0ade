#pragma once
// Cuts the work items of a persistent kernel into launches.

#include <algorithm>
#include <chrono>

#include "cuda/pairs/team/share.hpp"

namespace gpu::cuda {

/// What became of a slice of items.
enum class slice_outcome {
  done,
  repeat,  ///< The same items again, fewer at a time.
  stop     ///< End the walk: it was given up.
};

/// Items of a first slice whose cost is not known.
inline constexpr index_t least_slice = 1024;

/// Calls work(first, last) over this engine's share of `walk`, `items` in all, in slices that take
/// about a tenth of a second, so that progress and cancellation come a few times a second. `work`
/// waits for the device. False where an engine gave up.
template <class Work>
bool walk_items(pair_walk& walk, index_t items, const Work& work,
                index_t first_slice = least_slice) {
  constexpr double least_shared_slice = 512;
  constexpr double wanted_seconds = 0.1;
  index_t slice = first_slice;
  const pair_walk::piece piece = walk.fair_pieces(slice, items, least_shared_slice);
  for (index_range taken = walk.take(piece); !taken.empty(); taken = walk.take(piece)) {
    for (index_t first = taken.begin; first < taken.end;) {
      const index_t last = std::min(taken.end, first + slice);
      const auto start = std::chrono::steady_clock::now();
      const slice_outcome outcome = work(first, last);
      if (outcome == slice_outcome::stop) return walk.finish();
      if (outcome == slice_outcome::repeat) {
        slice = std::max<index_t>(1, (last - first) / 4);
        continue;
      }
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      const double wanted =
          static_cast<double>(last - first) * wanted_seconds / std::max(spent.count(), 1e-4);
      slice = std::clamp(static_cast<index_t>(wanted), std::max<index_t>(1, slice / 4), slice * 4);
      first = last;
    }
  }
  return walk.finish();
}

}  // namespace gpu::cuda
