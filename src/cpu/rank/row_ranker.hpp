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

#include "base/ordered_key.hpp"
#include "base/poll_progress.hpp"
#include "cpu/platform/byte_transpose.hpp"
#include "cpu/rank/counting.hpp"
#include "cpu/rank/sorting.hpp"

namespace gpu::cpu {

/// Delivers to a sink, per element, the count that plan/rank_variants.hpp defines: for each row
/// `auto put = sink(row)`, then put(col, count) for every column, where the last of several calls
/// for a column counts; or, for rows whose counts are bytes, sink.put_bytes(first, last, counts,
/// pitch) where there is such a member. Inner loops keep their values in local variables, because
/// stores of bytes may alias anything that is reached through a pointer.
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
      pitch_ = pitch_of(data.cols());
      const auto elements = static_cast<std::size_t>(pitch_) * counting_block_rows;
      keys_.resize(elements * sizeof(T) / sizeof(line));
      results_.resize(elements * sizeof(T) / sizeof(line));
      tile_.resize(elements / sizeof(line));
    }
  }

  /// Memory that a ranker takes, bytes: at most.
  static std::size_t scratch_bytes(index_t cols, rank_variant variant) {
    if (variant != rank_variant::counting) return row_sorter<key>::bytes_of(cols);
    return static_cast<std::size_t>(pitch_of(cols)) * counting_block_rows * (2 * sizeof(T) + 1);
  }

  /// Ranks rows [first, last), at most counting_block_rows of them.
  template <class Sink>
  void rank(index_t first, index_t last, Sink&& sink) {
    if (counts_) {
      rank_by_counting(first, last, sink);
    } else {
      for (index_t row = first; row < last; ++row) {
        if (!rank_by_tally(row, sink)) rank_by_sorting(row, sink);
      }
    }
  }

 private:
  using key = detail::ordered_key_t<T>;
  // Elements between two polls of the call's progress where ranks are written.
  static constexpr index_t poll_step = index_t{1} << 22;
  template <class U>
  static constexpr key nan_key = detail::nan_key<U>;
  struct alignas(64) line {
    std::array<std::byte, 64> bytes;
  };

  static index_t pitch_of(index_t cols) {
    return (cols + transpose_edge - 1) / transpose_edge * transpose_edge;
  }

  static key key_of(T value, key flip) {
    return static_cast<key>(detail::ordered_key(value) ^ flip);
  }

  // Whether every row lies within a byte around its first element; least_ becomes the least key a
  // row may have. The common case, and cheaper to find out than the extremes.
  bool fits_bytes(index_t first, index_t last) {
    if constexpr (sizeof(T) == 1) {
      std::fill(least_.begin(), least_.end(), key{0});
      return true;
    } else {
      constexpr key half = 128;
      const index_t cols = data_.cols();
      const key flip = flip_;
      key outside = 0;
      for (index_t row = first; row < last; ++row) {
        const T* values = data_.row(row);
        const key centre = key_of(values[0], flip);
        // Close to the ends of the keys a distance could wrap round.
        if (centre < half || centre > static_cast<key>(~half)) return false;
        const auto least = static_cast<key>(centre - half);
        for (index_t col = 0; col < cols; ++col) {
          outside |= static_cast<key>(key_of(values[col], flip) - least);
        }
        least_[static_cast<std::size_t>(row - first)] = least;
      }
      return outside <= 0xff;
    }
  }

  // The largest difference of two keys of one row; least_ becomes the least key per row.
  key widest_row(index_t first, index_t last) {
    const index_t cols = data_.cols();
    const key flip = flip_;
    key widest = 0;
    for (index_t row = first; row < last; ++row) {
      const T* values = data_.row(row);
      key least = key_of(values[0], flip);
      key most = least;
      for (index_t col = 1; col < cols; ++col) {
        const key k = key_of(values[col], flip);
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
    if constexpr (std::is_same_v<T, std::int32_t>) {
      const bool fits = kernels_.narrow(
          data_.row(first), data_.row_stride(), static_cast<int>(last - first),
          static_cast<int>(data_.cols()), static_cast<std::int32_t>(flip_), tile(), pitch_);
      if (fits) return count_narrowed(first, last, sink);
    } else {
      if (fits_bytes(first, last)) return count_in_bytes(first, last, sink);
    }
    const key widest = widest_row(first, last);
    if (widest <= 0xff) return count_in_bytes(first, last, sink);
    if constexpr (sizeof(T) > 1) {
      if (widest <= 0xffff) return count_in_lanes<std::int16_t>(first, last, sink);
    }
    if constexpr (sizeof(T) > 2) {
      if (widest <= 0xffffffff) return count_in_lanes<std::int32_t>(first, last, sink);
    }
    if constexpr (sizeof(T) > 4) return count_in_lanes<std::int64_t>(first, last, sink);
  }

  // Rows are narrowed to bytes as they stand, and turned into lanes by 16 x 16 transposition.
  template <class Sink>
  void count_in_bytes(index_t first, index_t last, Sink& sink) {
    const index_t cols = data_.cols();
    const index_t pitch = pitch_;
    const key flip = flip_;
    for (index_t row = first; row < last; ++row) {
      const T* values = data_.row(row);
      std::int8_t* narrow = tile() + (row - first) * pitch;
      const auto middle = static_cast<key>(least_[static_cast<std::size_t>(row - first)] + 128);
      for (index_t col = 0; col < cols; ++col) {
        narrow[col] = static_cast<std::int8_t>(key_of(values[col], flip) - middle);
      }
    }
    count_narrowed(first, last, sink);
  }

  [[nodiscard]] std::int8_t* tile() { return reinterpret_cast<std::int8_t*>(tile_.data()); }

  // Counts the bytes in the tile.
  template <class Sink>
  void count_narrowed(index_t first, index_t last, Sink& sink) {
    std::int8_t* keys = reinterpret_cast<std::int8_t*>(keys_.data());
    std::int8_t* counts = reinterpret_cast<std::int8_t*>(results_.data());
    const index_t cols = data_.cols();
    const index_t pitch = pitch_;
    transpose_bytes(tile(), pitch, counting_block_rows, pitch, keys, counting_block_rows);
    kernels_.bytes(ties_, keys, static_cast<int>(cols), counts);
    transpose_bytes(counts, counting_block_rows, pitch, counting_block_rows, tile(), pitch);
    if constexpr (requires { sink.put_bytes(first, last, tile(), pitch); }) {
      sink.put_bytes(first, last, tile(), pitch);
    } else {
      for (index_t row = first; row < last; ++row) {
        const std::int8_t* count = tile() + (row - first) * pitch;
        const auto put = sink(row);
        for (index_t col = 0; col < cols; ++col) put(col, count[col]);
      }
    }
  }

  template <class Lane, class Sink>
  void count_in_lanes(index_t first, index_t last, Sink& sink) {
    using unsigned_lane = std::make_unsigned_t<Lane>;
    constexpr auto top = static_cast<unsigned_lane>(unsigned_lane{1} << (sizeof(Lane) * 8 - 1));
    Lane* keys = reinterpret_cast<Lane*>(keys_.data());
    Lane* counts = reinterpret_cast<Lane*>(results_.data());
    const index_t cols = data_.cols();
    const key flip = flip_;
    for (index_t row = first; row < last; ++row) {
      const T* values = data_.row(row);
      Lane* lane = keys + (row - first);
      const key least = least_[static_cast<std::size_t>(row - first)];
      for (index_t col = 0; col < cols; ++col) {
        const auto distance = static_cast<unsigned_lane>(key_of(values[col], flip) - least);
        lane[col * counting_block_rows] = static_cast<Lane>(distance ^ top);
      }
    }
    kernels_.template of<Lane>()(ties_, keys, static_cast<int>(cols), counts);
    for (index_t row = first; row < last; ++row) {
      const Lane* lane = counts + (row - first);
      const auto put = sink(row);
      for (index_t col = 0; col < cols; ++col) put(col, lane[col * counting_block_rows]);
    }
  }

  // Integers of fewer values than half of the columns are counted value by value: each is read
  // three times, and nothing is moved. Whether the row was such a one.
  template <class Sink>
  bool rank_by_tally(index_t row, Sink& sink) {
    if constexpr (!std::is_integral_v<T>) {
      return false;
    } else {
      const index_t cols = data_.cols();
      if (cols == 0) return false;
      const key widest = widest_row(row, row + 1);
      constexpr index_t always = 256;  // bytes
      if (widest >= static_cast<std::make_unsigned_t<index_t>>(std::max(always, cols / 2))) {
        return false;
      }
      const auto values = static_cast<std::size_t>(widest) + 1;
      const T* from = data_.row(row);
      const key least = least_[0];
      const key flip = flip_;
      const auto place_of = [&](index_t col) {
        return static_cast<std::size_t>(static_cast<key>(key_of(from[col], flip) - least));
      };
      // Neighbours count apart, so that a run of equal ones need not wait for itself.
      constexpr std::size_t apart = 2;
      tally_.assign(values * apart, 0);
      detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
        std::uint32_t* const tally = tally_.data();
        index_t col = begin;
        for (; col + 2 <= end; col += 2) {
          ++tally[place_of(col) * apart];
          ++tally[place_of(col + 1) * apart + 1];
        }
        for (; col < end; ++col) ++tally[place_of(col) * apart];
      });
      count_of_value_.resize(values);
      index_t next = 0;
      index_t distinct = 0;
      for (std::size_t value = 0; value < values; ++value) {
        const index_t equal = index_t{tally_[value * apart]} + index_t{tally_[value * apart + 1]};
        if (equal == 0) continue;
        count_of_value_[value] = count_of(next, next + equal, next, distinct);
        next += equal;
        ++distinct;
      }
      const auto put = sink(row);
      const index_t step = ties_ == tie_method::ordinal ? 1 : 0;  // equal ones in order of column
      detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
        index_t* const counts = count_of_value_.data();
        for (index_t col = begin; col < end; ++col) {
          index_t& count = counts[place_of(col)];
          put(col, count);
          count += step;
        }
      });
      return true;
    }
  }

  template <class Sink>
  void rank_by_sorting(index_t row, Sink& sink) {
    if (rank_by_sorting_others(row, sink)) return;
    const index_t cols = data_.cols();
    const T* values = data_.row(row);
    sorter_.resize(static_cast<std::size_t>(cols));
    detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
      for (index_t col = begin; col < end; ++col) {
        sorter_.set(static_cast<std::size_t>(col), key_of(values[col], flip_));
      }
    });
    sorter_.sort();
    put_others(0, cols, 0, 0, sink(row));
  }

  // How many zeros a row has; 0 as well where a sample has none, so that rows without zeros are not
  // read once more.
  index_t count_zeros(const T* values, index_t cols) {
    constexpr index_t sample = 64;
    const index_t step = std::max<index_t>(1, cols / sample);
    bool is_any = false;
    for (index_t col = 0; col < cols; col += step) is_any = is_any || values[col] == T{};
    if (!is_any) return 0;
    index_t zeros = 0;
    detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
      index_t found = 0;
      for (index_t col = begin; col < end; ++col) found += values[col] == T{} ? 1 : 0;
      zeros += found;
    });
    return zeros;
  }

  // Of a row that is zeros by a quarter or more only the other values are sorted: the zeros are one
  // run of equal ones behind the values that stand before 0. Whether the row was such a one.
  template <class Sink>
  bool rank_by_sorting_others(index_t row, Sink& sink) {
    const index_t cols = data_.cols();
    const T* const values = data_.row(row);
    const index_t zeros = count_zeros(values, cols);
    if (zeros == 0 || zeros < cols / 4) return false;
    const key zero = key_of(T{}, flip_);
    const index_t others = cols - zeros;
    sorter_.resize(static_cast<std::size_t>(others));
    index_t before = 0;  // values that stand before 0
    std::size_t place = 0;
    const auto take = [&](index_t begin, index_t end) {
      for (index_t col = begin; col < end; ++col) {
        if (values[col] == T{}) continue;
        const key own = key_of(values[col], flip_);
        before += own < zero ? 1 : 0;
        sorter_.set(place++, static_cast<std::size_t>(col), own);
      }
    };
    detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
      // Of a row that is mostly zeros most of so many neighbours are.
      constexpr index_t together = 16;
      for (index_t col = begin; col < end; col += together) {
        const index_t last = std::min(end, col + together);
        bool is_any = last - col < together;
        for (index_t k = col; k < last; ++k) is_any = is_any | (values[k] != T{});
        if (is_any) take(col, last);
      }
    });
    if (others > 0) sorter_.sort();
    index_t distinct = 0;
    for (index_t at = 0; at < before; ++at) {
      distinct += at == 0 || !sorter_.are_equal(at - 1, at) ? 1 : 0;
    }
    const auto put = sink(row);
    put_zeros(values, before, before + zeros, distinct, put);
    put_others(0, before, 0, 0, put);
    put_others(before, others, zeros, distinct + 1, put);
    return true;
  }

  // The counts of zeros at sorted places [first, last): to their columns in order, or, where all
  // are equal, to every column, which takes no look at the values.
  template <class Put>
  void put_zeros(const T* values, index_t first, index_t last, index_t distinct, const Put& put) {
    const index_t cols = data_.cols();
    index_t at = first;
    detail::in_polled_pieces(cols, [&](index_t begin, index_t end) {
      if (ties_ == tie_method::ordinal) {
        for (index_t col = begin; col < end; ++col) {
          if (values[col] == T{}) put(col, at++);
        }
        return;
      }
      const index_t count = count_of(first, last, first, distinct);
      for (index_t col = begin; col < end; ++col) put(col, count);
    });
  }

  // The counts of the sorter's items [first, last), with `shift` elements more in front of them and
  // `distinct` smaller values.
  template <class Put>
  void put_others(index_t first, index_t last, index_t shift, index_t distinct, const Put& put) {
    for (index_t begin = first; begin < last; ++distinct) {
      index_t end = begin + 1;
      while (end < last && sorter_.are_equal(begin, end)) ++end;
      for (index_t at = begin; at < end; ++at) {
        put(sorter_.column_at(at), count_of(begin + shift, end + shift, at + shift, distinct));
      }
      if (end / poll_step != begin / poll_step) detail::poll_progress();
      begin = end;
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
  index_t pitch_ = 0;
  std::vector<line> tile_;
  std::vector<line> keys_;
  std::vector<line> results_;
  row_sorter<key> sorter_;
  std::vector<std::uint32_t> tally_;
  std::vector<index_t> count_of_value_;
};

}  // namespace gpu::cpu
