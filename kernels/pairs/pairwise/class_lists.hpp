#pragma once
// Rows with missing values by their masks, the columns that they have.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>

#include "base/host_device.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"

namespace gpu::kernels {

/// The masks of packed rows.
struct mask_rows {
  const std::uint64_t* first;  ///< The words of row 0.
  index_t pitch;               ///< From one row to the next.
  index_t words;
  index_t count;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE const std::uint64_t* of(index_t row) const {
    return first + row * pitch;
  }
};

/// The masks that were met, by their hashes. Begins as zeros, with all bits of `first` set.
struct class_table {
  static constexpr int places = 4 * most_mask_classes;
  unsigned long long hash[places];  ///< 0: free.
  unsigned first[places];           ///< The first row that has the mask.
  unsigned taken;  ///< Places; where more than most_mask_classes, the rest is void.
};
/// Which place each row has, and later the class of each place.
struct class_places {
  class_table* table;
  std::uint16_t* of_row;        ///< [rows]
  const std::uint16_t* number;  ///< [class_table::places]
};
void launch_place_rows(const mask_rows& masks, const class_places& to, cudaStream_t stream);

/// The rows of each class, as mask_classes has them.
struct row_lists {
  const std::uint32_t* first;  ///< [classes] the first row of each.
  std::uint16_t* of_row;       ///< [rows]
  std::uint32_t* order;        ///< [rows]
  std::uint32_t* begins;       ///< [classes + 1]
  std::uint32_t* sizes;        ///< [classes] rows of each; zeros before.
  std::uint32_t* places;       ///< [rows]
  unsigned* differs;           ///< 0 before; 1 where rows of one place have different masks.
};
void launch_list_rows(const mask_rows& masks, const class_places& from, int classes,
                      const row_lists& out, cudaStream_t stream);

}  // namespace gpu::kernels
