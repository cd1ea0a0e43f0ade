#pragma once
// Cuts the work items of a persistent kernel into launches.

#include <algorithm>
#include <chrono>

#include <gpu/index.hpp>

namespace gpu::cuda {

/// What became of a slice of items.
enum class slice_outcome {
  done,
  repeat,  ///< The same items again, fewer at a time.
  stop     ///< End the walk.
};

/// Calls work(first, last) over [0, items) in slices that take about a tenth of a second, so that
/// progress and cancellation come a few times a second. `work` waits for the device. False where
/// it asked to stop.
template <class Work>
bool walk_items(index_t items, const Work& work) {
  constexpr index_t first_slice = 1024;
  constexpr double wanted_seconds = 0.1;
  index_t slice = first_slice;
  for (index_t first = 0; first < items;) {
    const index_t last = std::min(items, first + slice);
    const auto start = std::chrono::steady_clock::now();
    const slice_outcome outcome = work(first, last);
    if (outcome == slice_outcome::stop) return false;
    if (outcome == slice_outcome::repeat) {
      slice = std::max<index_t>(1, (last - first) / 4);
      continue;
    }
    first = last;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const double wanted =
        static_cast<double>(slice) * wanted_seconds / std::max(taken.count(), 1e-4);
    slice = std::clamp(static_cast<index_t>(wanted), std::max<index_t>(1, slice / 4), slice * 4);
  }
  return true;
}

}  // namespace gpu::cuda
