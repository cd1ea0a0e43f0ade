#pragma once
// Ranks blocks of rows of one matrix on one thread, by counting or by sorting.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <gpu/matrix_view.hpp>
#include <gpu/rank.hpp>

#include "cpu/rank_counting.hpp"
#include "cpu/rank_sorting.hpp"
#include "plan/ordered_key.hpp"

namespace gpu::cpu {

/// Delivers to a sink, per element, the count that plan/rank_variants.hpp defines:
/// sink(row, col, count) for every column of a row, row after row.
template <class T>
class row_ranker {
 public:
  /// `variant` is counting (cols <= counting_max_cols) or sort.
  row_ranker(matrix_view<const T> data, tie_method ties, rank_order order, rank_variant variant)
      : data_(data),
        ties_(ties),
        flip_(order == rank_order::descending ? nan_key<T> : key{0}),
        counts_(variant == rank_variant::counting) {
    if (counts_) {
      const auto elements = static_cast<std::size_t>(data.cols()) * counting_block_rows;
      keys_.resize(elements * sizeof(T) / sizeof(line) + 1);
      results_.resize(elements * sizeof(T) / sizeof(line) + 1);
    }
  }

  /// Ranks rows [first, last), at most counting_block_rows of them.
  template <class Sink>
  void rank(index_t first, index_t last, Sink&& sink) {
    if (counts_) {
      rank_by_counting(first, last, sink);
    } else {
      for (index_t row = first; row < last; ++row) rank_by_sorting(row, sink);
    }
  }

 private:
  using key = detail::ordered_key_t<T>;
  template <class U>
  static constexpr key nan_key = detail::nan_key<U>;
  struct alignas(64) line {
    std::array<std::byte, 64> bytes;
  };

  [[nodiscard]] key key_of(T value) const {
    return static_cast<key>(detail::ordered_key(value) ^ flip_);
  }

  // The largest difference of two keys of one row, and per row the least key.
  key widest_row(index_t first, index_t last) {
    key widest = 0;
    for (index_t row = first; row < last; ++row) {
      const T* values = data_.row(row);
      key least = key_of(values[0]);
      key most = least;
      for (index_t col = 1; col < data_.cols(); ++col) {
        const key k = key_of(values[col]);
        least = k < least ? k : least;
        most = k > most ? k : most;
      }
      least_[static_cast<std::size_t>(row - first)] = least;
      const auto width = static_cast<key>(most - least);
      widest = width > widest ? width : widest;
    }
    return widest;
  }

  template <class Sink>
  void rank_by_counting(index_t first, index_t last, Sink& sink) {
    if (data_.cols() == 0) return;
    // Narrower lanes hold more rows per instruction: counts and pixels mostly fit a byte.
    const key widest = widest_row(first, last);
    if (widest <= 0xff) return count_in_lanes<std::int8_t>(first, last, sink);
    if constexpr (sizeof(T) > 1) {
      if (widest <= 0xffff) return count_in_lanes<std::int16_t>(first, last, sink);
    }
    if constexpr (sizeof(T) > 2) {
      if (widest <= 0xffffffff) return count_in_lanes<std::int32_t>(first, last, sink);
    }
    if constexpr (sizeof(T) > 4) return count_in_lanes<std::int64_t>(first, last, sink);
  }

  template <class Lane, class Sink>
  void count_in_lanes(index_t first, index_t last, Sink& sink) {
    using unsigned_lane = std::make_unsigned_t<Lane>;
    constexpr auto top = static_cast<unsigned_lane>(unsigned_lane{1} << (sizeof(Lane) * 8 - 1));
    Lane* keys = reinterpret_cast<Lane*>(keys_.data());
    Lane* counts = reinterpret_cast<Lane*>(results_.data());
    const index_t cols = data_.cols();
    for (index_t row = first; row < last; ++row) {
      const T* values = data_.row(row);
      Lane* lane = keys + (row - first);
      const key least = least_[static_cast<std::size_t>(row - first)];
      for (index_t col = 0; col < cols; ++col) {
        const auto distance = static_cast<unsigned_lane>(key_of(values[col]) - least);
        lane[col * counting_block_rows] = static_cast<Lane>(distance ^ top);
      }
    }
    kernels_.template of<Lane>()(ties_, keys, static_cast<int>(cols), counts);
    for (index_t row = first; row < last; ++row) {
      const Lane* lane = counts + (row - first);
      for (index_t col = 0; col < cols; ++col) sink(row, col, lane[col * counting_block_rows]);
    }
  }

  template <class Sink>
  void rank_by_sorting(index_t row, Sink& sink) {
    const index_t cols = data_.cols();
    const T* values = data_.row(row);
    sorter_.resize(static_cast<std::size_t>(cols));
    for (index_t col = 0; col < cols; ++col) {
      sorter_.set(static_cast<std::size_t>(col), key_of(values[col]));
    }
    sorter_.sort();
    index_t distinct = 0;
    for (index_t first = 0; first < cols; ++distinct) {
      index_t last = first + 1;
      const key value = sorter_.key_at(first);
      while (last < cols && sorter_.key_at(last) == value) ++last;
      for (index_t at = first; at < last; ++at) {
        sink(row, sorter_.column_at(at), count_of(first, last, at, distinct));
      }
      first = last;
    }
  }

  // The count of the element at sorted place `at` in a run of equal ones at places [first, last).
  [[nodiscard]] index_t count_of(index_t first, index_t last, index_t at, index_t distinct) const {
    switch (ties_) {
      case tie_method::average:
        return first + last - data_.cols();
      case tie_method::min:
        return first;
      case tie_method::max:
        return data_.cols() - last;
      case tie_method::dense:
        return distinct;
      case tie_method::ordinal:
        break;
    }
    return at;
  }

  matrix_view<const T> data_;
  tie_method ties_;
  key flip_;
  bool counts_;
  const counting_kernels& kernels_ = usable_counting_kernels();
  std::array<key, counting_block_rows> least_{};
  std::vector<line> keys_;
  std::vector<line> results_;
  row_sorter<key> sorter_;
};

}  // namespace gpu::cpu
