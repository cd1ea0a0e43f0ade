#pragma once
// S of Kendall's tau of two rows with missing values, by some lanes together. The columns are taken
// in the order of the values of y. The places of x, its columns in the order of their values, are
// bits: set where the column was taken. Those before the place of a column are smaller in both
// rows, those behind it are larger in x alone; equal values of y are set once all were counted.
// Host and device compile the same functions.

#include <bit>
#include <cstdint>

#include <gpu/p_value.hpp>

#include "base/host_device.hpp"

namespace gpu::kernels {

GPU_SIMILARITY_HOST_DEVICE inline int count_bits(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __popc(word);
#else
  return std::popcount(word);
#endif
}

/// The lowest `count` bits; none of a negative number, all of 32 and more.
GPU_SIMILARITY_HOST_DEVICE inline std::uint32_t lowest_bits(int count) {
  if (count <= 0) return 0;
  return count >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << count) - 1;
}

/// What a lane has of a pair: `words` words of places, from place `first` on.
template <int words>
class sign_places {
 public:
  explicit GPU_SIMILARITY_HOST_DEVICE sign_places(int first) : first_(first) {}

  /// To be called before the first column of another value of y, and behind the last column.
  GPU_SIMILARITY_HOST_DEVICE void end_group() {
    for (int w = 0; w < words; ++w) taken_[w] |= group_[w];
  }
  /// Takes a column, whose x is equal at places [begin, end) and is itself at `place`.
  GPU_SIMILARITY_HOST_DEVICE void take(int begin, int end, int place) {
    for (int w = 0; w < words; ++w) {
      const int at = first_ + 32 * w;
      sum_ += count_bits(taken_[w] & lowest_bits(begin - at)) -
              count_bits(taken_[w] & ~lowest_bits(end - at));
      const int own = place - at;
      if (own >= 0 && own < 32) group_[w] |= std::uint32_t{1} << own;
    }
  }
  /// This lane's part of S.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE int sum() const { return sum_; }
  /// This lane's part of the number of columns at places [begin, end) that were taken.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE int count(int begin, int end) const {
    int out = 0;
    for (int w = 0; w < words; ++w) {
      const int at = first_ + 32 * w;
      out += count_bits(taken_[w] & lowest_bits(end - at) & ~lowest_bits(begin - at));
    }
    return out;
  }

 private:
  int first_;
  int sum_ = 0;
  std::uint32_t taken_[words] = {};
  std::uint32_t group_[words] = {};  // of the value of y, those of all values before included
};

/// Ties of values that come one by one, equal ones one behind the other.
class tie_counter {
 public:
  /// Takes one more value of the group.
  GPU_SIMILARITY_HOST_DEVICE void take() {
    // A group of t adds t (t - 1) / 2 pairs and t (t - 1) (t - 2) triples.
    pairs_ += size_;
    thirds_ += std::int64_t{size_} * (size_ - 1);
    ++size_;
  }
  GPU_SIMILARITY_HOST_DEVICE void end_group() { size_ = 0; }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE row_ties ties() const {
    row_ties out;
    out.pairs = pairs_;
    out.triples = 3 * thirds_;
    return out;
  }

 private:
  int size_ = 0;
  int pairs_ = 0;
  std::int64_t thirds_ = 0;
};

}  // namespace gpu::kernels
