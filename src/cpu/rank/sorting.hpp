#pragma once
// Sorts the keys of one row together with their columns; equal keys stay in order of column.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

#include "base/poll_progress.hpp"

namespace gpu::cpu {

/// A key and the column it came from; the order of items is that of (key, column).
template <class Key>
struct keyed_column {
  Key key;
  std::uint32_t column;
  friend bool operator<(const keyed_column& a, const keyed_column& b) {
    return a.key != b.key ? a.key < b.key : a.column < b.column;
  }
};

template <class Key>
class row_sorter {
 public:
  /// What the items of a row take, and as much again for the radix sort.
  static std::size_t bytes_of(index_t cols) {
    return 2 * static_cast<std::size_t>(cols) * sizeof(keyed_column<Key>);
  }
  void resize(std::size_t cols) { grow(items_, cols); }
  void set(std::size_t column, Key key) {
    items_[column] = {key, static_cast<std::uint32_t>(column)};
  }
  /// Item `place` is of another column; columns ascend with the places.
  void set(std::size_t place, std::size_t column, Key key) {
    items_[place] = {key, static_cast<std::uint32_t>(column)};
  }
  /// Comparison sort for few items, else least-significant-digit radix sort, which polls the call's
  /// progress: in bytes, or of many items with long keys in 11 bits, a quarter fewer passes.
  void sort() {
    if (items_.size() < radix_from) {
      std::sort(items_.begin(), items_.end());
    } else if (sizeof(Key) > 2 && items_.size() >= long_digits_from) {
      radix_sort<11>();
    } else {
      radix_sort<8>();
    }
  }
  [[nodiscard]] Key key_at(index_t place) const {
    return items_[static_cast<std::size_t>(place)].key;
  }
  [[nodiscard]] index_t column_at(index_t place) const {
    return items_[static_cast<std::size_t>(place)].column;
  }

 private:
  // Below this the histograms of the digits cost more than the comparisons.
  static constexpr std::size_t radix_from = 64;
  // The same of digits of 11 bits against bytes.
  static constexpr std::size_t long_digits_from = 2048;

  // Polls: the system may take a second over the pages of a row of 1e8 values.
  static void grow(std::vector<keyed_column<Key>>& items, std::size_t size) {
    items.reserve(size);
    detail::in_polled_pieces(static_cast<index_t>(size), [&](index_t, index_t end) {
      items.resize(std::max(items.size(), static_cast<std::size_t>(end)));
    });
    items.resize(size);
  }

  [[nodiscard]] index_t size() const { return static_cast<index_t>(items_.size()); }

  template <std::size_t Bits>
  void radix_sort() {
    using histogram = std::array<std::uint32_t, std::size_t{1} << Bits>;
    constexpr std::size_t passes = (8 * sizeof(Key) + Bits - 1) / Bits;
    constexpr Key mask = static_cast<Key>((std::size_t{1} << Bits) - 1);
    std::array<histogram, passes> digits{};
    detail::in_polled_pieces(size(), [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        const Key key = key_at(i);
        for (std::size_t digit = 0; digit < passes; ++digit) {
          ++digits[digit][(key >> (Bits * digit)) & mask];
        }
      }
    });
    grow(sorted_, items_.size());
    for (std::size_t digit = 0; digit < passes; ++digit) {
      histogram& count = digits[digit];
      const auto shift = Bits * digit;
      // A digit that all keys share needs no pass: small integers have several.
      if (count[(items_.front().key >> shift) & mask] == items_.size()) continue;
      std::uint32_t start = 0;
      for (auto& bin : count) {
        const std::uint32_t size = bin;
        bin = start;
        start += size;
      }
      detail::in_polled_pieces(size(), [&](index_t begin, index_t end) {
        for (index_t i = begin; i < end; ++i) {
          const auto& item = items_[static_cast<std::size_t>(i)];
          sorted_[count[(item.key >> shift) & mask]++] = item;
        }
      });
      items_.swap(sorted_);
    }
  }

  std::vector<keyed_column<Key>> items_;
  std::vector<keyed_column<Key>> sorted_;
};

}  // namespace gpu::cpu
