#pragma once
// Sorts the keys of one row together with their columns; equal keys stay in order of column.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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

/// Makes `items` so long. Polls: the system may take a second over the pages of a row of 1e8
/// values.
template <class Item>
void grow_polled(std::vector<Item>& items, std::size_t size) {
  items.reserve(size);
  detail::in_polled_pieces(static_cast<index_t>(size), [&](index_t, index_t end) {
    items.resize(std::max(items.size(), static_cast<std::size_t>(end)));
  });
  items.resize(size);
}

/// Of keys of 32 bits at most.
template <class Key>
class row_sorter {
 public:
  /// What the items of a row take, and as much again for the radix sort.
  static std::size_t bytes_of(index_t cols) {
    return 2 * static_cast<std::size_t>(cols) * sizeof(keyed_column<Key>);
  }
  void resize(std::size_t cols) { grow_polled(items_, cols); }
  void set(std::size_t column, Key key) {
    items_[column] = {key, static_cast<std::uint32_t>(column)};
  }
  /// Item `place` is of another column; columns ascend with the places.
  void set(std::size_t place, std::size_t column, Key key) {
    items_[place] = {key, static_cast<std::uint32_t>(column)};
  }
  /// Comparison sort for few items, else least-significant-digit radix sort, which polls the call's
  /// progress: in bytes, or of many items with long keys in 11 bits, a quarter fewer passes.
  void sort() { sort(0, size()); }
  /// The same of the items [begin, end) alone.
  void sort(index_t begin, index_t end) {
    if (end - begin < radix_from) {
      std::sort(items_.begin() + begin, items_.begin() + end);
    } else if (sizeof(Key) > 2 && end - begin >= long_digits_from) {
      radix_sort<11>(begin, end);
    } else {
      radix_sort<8>(begin, end);
    }
  }
  [[nodiscard]] index_t size() const { return static_cast<index_t>(items_.size()); }
  [[nodiscard]] Key key_at(index_t place) const {
    return items_[static_cast<std::size_t>(place)].key;
  }
  [[nodiscard]] index_t column_at(index_t place) const {
    return items_[static_cast<std::size_t>(place)].column;
  }
  [[nodiscard]] bool are_equal(index_t a, index_t b) const { return key_at(a) == key_at(b); }

 private:
  using item = keyed_column<Key>;
  // Below this the histograms of the digits cost more than the comparisons.
  static constexpr index_t radix_from = 64;
  // The same of digits of 11 bits against bytes.
  static constexpr index_t long_digits_from = 2048;

  template <std::size_t Bits>
  void radix_sort(index_t first, index_t last) {
    using histogram = std::array<std::uint32_t, std::size_t{1} << Bits>;
    constexpr std::size_t passes = (8 * sizeof(Key) + Bits - 1) / Bits;
    constexpr Key mask = static_cast<Key>((std::size_t{1} << Bits) - 1);
    const index_t count = last - first;
    std::array<histogram, passes> digits{};
    item* from = items_.data() + first;
    detail::in_polled_pieces(count, [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        const Key key = from[i].key;
        for (std::size_t digit = 0; digit < passes; ++digit) {
          ++digits[digit][(key >> (Bits * digit)) & mask];
        }
      }
    });
    grow_polled(sorted_, items_.size());
    item* to = sorted_.data() + first;
    for (std::size_t digit = 0; digit < passes; ++digit) {
      histogram& places = digits[digit];
      const auto shift = Bits * digit;
      // A digit that all keys share needs no pass: small integers have several.
      if (places[(from->key >> shift) & mask] == static_cast<std::uint32_t>(count)) continue;
      std::uint32_t start = 0;
      for (auto& bin : places) {
        const std::uint32_t size = bin;
        bin = start;
        start += size;
      }
      detail::in_polled_pieces(count, [&](index_t begin, index_t end) {
        const item* const own = from;
        item* const out = to;
        for (index_t i = begin; i < end; ++i) {
          out[places[(own[i].key >> shift) & mask]++] = own[i];
        }
      });
      std::swap(from, to);
    }
    if (from == items_.data() + first) return;
    if (count == size()) {
      items_.swap(sorted_);
    } else {
      std::copy(from, from + count, to);
    }
  }

  std::vector<item> items_;
  std::vector<item> sorted_;
};

/// Of keys of 64 bits. They are sorted by 32 of their bits, from the first that is not the same in
/// all of them on; then the few runs of items with these bits equal by the rest.
template <>
class row_sorter<std::uint64_t> {
 public:
  using key = std::uint64_t;

  static std::size_t bytes_of(index_t cols) {
    return static_cast<std::size_t>(cols) * (sizeof(key) + sizeof(std::uint32_t)) +
           row_sorter<std::uint32_t>::bytes_of(cols);
  }
  void resize(std::size_t cols) {
    grow_polled(keys_, cols);
    columns_.clear();
  }
  void set(std::size_t column, key own) { keys_[column] = own; }
  void set(std::size_t place, std::size_t column, key own) {
    if (columns_.empty()) grow_polled(columns_, keys_.size());
    columns_[place] = static_cast<std::uint32_t>(column);
    keys_[place] = own;
  }
  void sort() {
    if (keys_.empty()) return;
    const extent all = extent_of_keys();
    const int width = 64 - std::countl_zero(all.most - all.least);
    shift_ = std::max(0, width - 32);
    are_whole_ = (all.differing & ((key{1} << shift_) - 1)) == 0;
    parts_.resize(keys_.size());
    const key least = all.least;
    detail::in_polled_pieces(size(), [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        const auto place = static_cast<std::size_t>(i);
        parts_.set(place, static_cast<std::uint32_t>((keys_[place] - least) >> shift_));
      }
    });
    parts_.sort();
    if (!are_whole_) sort_runs(least);
  }
  [[nodiscard]] index_t column_at(index_t at) const {
    const index_t place = parts_.column_at(at);
    return columns_.empty() ? place : columns_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] bool are_equal(index_t a, index_t b) const {
    return parts_.are_equal(a, b) && (are_whole_ || key_at(a) == key_at(b));
  }

 private:
  // Longer runs are sorted by digits.
  static constexpr index_t short_run = 32;
  static constexpr index_t poll_step = index_t{1} << 22;

  struct extent {
    key least;
    key most;
    key differing;  // bits that are not the same in all keys
  };

  [[nodiscard]] index_t size() const { return static_cast<index_t>(keys_.size()); }
  [[nodiscard]] key key_at(index_t at) const {
    return keys_[static_cast<std::size_t>(parts_.column_at(at))];
  }

  [[nodiscard]] extent extent_of_keys() const {
    extent out{keys_.front(), keys_.front(), 0};
    detail::in_polled_pieces(size(), [&](index_t begin, index_t end) {
      extent of = out;
      const key first = keys_.front();
      for (index_t i = begin; i < end; ++i) {
        const key own = keys_[static_cast<std::size_t>(i)];
        of.least = std::min(of.least, own);
        of.most = std::max(of.most, own);
        of.differing |= own ^ first;
      }
      out = of;
    });
    return out;
  }

  void sort_runs(key least) {
    const index_t count = size();
    for (index_t begin = 0; begin < count;) {
      index_t end = begin + 1;
      while (end < count && parts_.are_equal(begin, end)) ++end;
      if (end - begin > 1 && !is_ascending(begin, end)) {
        end - begin <= short_run ? insert(begin, end) : sort_rest(least, begin, end);
      }
      if (end / poll_step != begin / poll_step) detail::poll_progress();
      begin = end;
    }
  }

  [[nodiscard]] bool is_ascending(index_t begin, index_t end) const {
    key before = key_at(begin);
    for (index_t at = begin + 1; at < end; ++at) {
      const key own = key_at(at);
      if (own < before) return false;
      before = own;
    }
    return true;
  }

  // Items of equal parts. Items of equal keys stay in order.
  void insert(index_t begin, index_t end) {
    const std::uint32_t part = parts_.key_at(begin);
    for (index_t at = begin + 1; at < end; ++at) {
      const index_t place = parts_.column_at(at);
      const key own = key_at(at);
      index_t to = at;
      for (; to > begin && own < key_at(to - 1); --to) move_to(to, parts_.column_at(to - 1), part);
      move_to(to, place, part);
    }
  }
  void sort_rest(key least, index_t begin, index_t end) {
    const std::uint32_t part = parts_.key_at(begin);
    const key mask = (key{1} << shift_) - 1;  // 32 bits at most
    for (index_t at = begin; at < end; ++at) {
      move_to(at, parts_.column_at(at), static_cast<std::uint32_t>((key_at(at) - least) & mask));
    }
    parts_.sort(begin, end);
    for (index_t at = begin; at < end; ++at) move_to(at, parts_.column_at(at), part);
  }
  void move_to(index_t at, index_t place, std::uint32_t part) {
    parts_.set(static_cast<std::size_t>(at), static_cast<std::size_t>(place), part);
  }

  std::vector<key> keys_;               // [places]
  std::vector<std::uint32_t> columns_;  // [places]; empty where each place is its own column
  row_sorter<std::uint32_t> parts_;     // places by parts of their keys
  int shift_ = 0;
  bool are_whole_ = true;  // whether equal parts are of equal keys
};

}  // namespace gpu::cpu
