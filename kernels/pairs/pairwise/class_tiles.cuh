#pragma once
// The rows of a panel that belong to classes of equal masks, in tiles of rows of one class each.

#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {

/// Where rows or columns of a panel begin and end in mask_classes::order, for each class.
struct class_bounds {
  std::uint32_t begin[most_mask_classes];
  std::uint32_t end[most_mask_classes];

  /// All threads; those of [first, last).
  __device__ void find(const mask_classes& by, index_t first, index_t last) {
    for (unsigned at = threadIdx.x; at < 2 * static_cast<unsigned>(by.count); at += blockDim.x) {
      const unsigned of = at / 2;
      const index_t bound = at % 2 == 0 ? first : last;
      std::uint32_t low = by.begins[of];
      for (std::uint32_t high = by.begins[of + 1]; low < high;) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (by.order[middle] < bound) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      (at % 2 == 0 ? begin : end)[of] = low;
    }
  }
};

/// Rows of one class, places in mask_classes::order.
struct mask_class_tile {
  int of;
  std::uint32_t begin;
  std::uint32_t end;
};

/// The rows of a panel in such tiles, at most `rows` each; in shared memory.
template <int rows>
struct mask_class_tiles {
  class_bounds bounds;
  std::uint32_t first[most_mask_classes + 1];  ///< The first tile of each class.

  /// One thread, once the bounds are known.
  __device__ void count(int classes) {
    first[0] = 0;
    for (int of = 0; of < classes; ++of) {
      first[of + 1] = first[of] + (bounds.end[of] - bounds.begin[of] + rows - 1) / rows;
    }
  }
  [[nodiscard]] __device__ mask_class_tile at(std::uint32_t tile) const {
    int of = 0;
    while (first[of + 1] <= tile) ++of;
    const std::uint32_t begin = bounds.begin[of] + (tile - first[of]) * rows;
    return {of, begin, min(begin + rows, bounds.end[of])};
  }
};

}  // namespace gpu::kernels
