#pragma once
// Which values of rows are missing, where many rows miss the same: the columns that a pair shares
// follow from the masks of its rows, and so does all that a row is over these columns.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Most masks that are told apart.
inline constexpr index_t most_row_masks = 64;
/// What is computed of a row for each mask pays where there are so many rows for each.
inline constexpr index_t least_rows_per_mask = 8;

/// The masks of rows. Empty where there are too many.
class row_masks {
 public:
  row_masks() = default;
  /// Of rows of `words` words, a bit a value that is there; at most `most` masks.
  row_masks(const std::vector<std::uint64_t>& bits, index_t words, index_t most);

  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] index_t count() const { return count_; }
  [[nodiscard]] index_t of(index_t row) const { return mask_of_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] const std::uint8_t* by_row() const { return mask_of_.data(); }
  [[nodiscard]] const std::uint64_t* bits(index_t mask) const {
    return masks_.data() + static_cast<std::size_t>(mask * words_);
  }
  /// The columns that rows of two masks share.
  [[nodiscard]] index_t shared(index_t a, index_t b) const {
    return shared_[static_cast<std::size_t>(a * count_ + b)];
  }

 private:
  index_t words_ = 0;
  index_t count_ = 0;
  std::vector<std::uint8_t> mask_of_;  // [rows]
  std::vector<std::uint64_t> masks_;   // [masks, words]
  std::vector<index_t> shared_;        // [masks, masks]
};

}  // namespace gpu::cpu
