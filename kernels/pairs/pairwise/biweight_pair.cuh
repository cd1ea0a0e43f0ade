#pragma once
// The biweight midcorrelation of a pair of rows with missing values, by a warp: both rows are
// transformed and scaled anew over the columns that they share, to the bits of a call over these
// columns alone. Compiled with -fmad=false; the order of every sum is that of stats/unit_rows.hpp.
//
// The values of a row that the partner has too, in their own order, are written one behind the
// other. The median is then in the middle, and the deviations from it fall up to there and rise
// behind: the k smallest are neighbours, and a vote of the lanes finds where they begin.

#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/common/warp.cuh"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "stats/row_transform.hpp"
#include "stats/shared_columns.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// A packed row: see pairwise_biweight_layout.
struct biweight_row {
  const std::uint32_t* present;  // bits
  const double* values;
  const double* sorted;
  const std::uint16_t* order;

  __device__ biweight_row(const pair_operand& from, index_t row) {
    const pairwise_biweight_layout layout{from.columns};
    const auto* const words = static_cast<const std::uint64_t*>(from.values) + row * from.pitch;
    present = reinterpret_cast<const std::uint32_t*>(words);
    values = reinterpret_cast<const double*>(words + layout.values());
    sorted = reinterpret_cast<const double*>(words + layout.sorted());
    order = reinterpret_cast<const std::uint16_t*>(words + layout.order());
  }
  [[nodiscard]] __device__ bool has(unsigned col) const {
    return (present[col / 32] >> (col % 32) & 1) != 0;
  }
};

/// One pair of a warp, of which every lane calls the same functions.
class biweight_pair {
 public:
  /// Places for pairs of values, each of 16 bytes, that the warp needs.
  static __host__ __device__ constexpr index_t places(index_t cols) {
    return round_up(cols, index_t{detail::partial_sums});
  }

  /// `memory` is shared memory of places(cols) pairs.
  __device__ biweight_pair(const biweight_row& x, const biweight_row& y, int cols, double2* memory)
      : x_(x), y_(y), cols_(cols), pairs_(memory), shared_(count_shared()) {}

  /// Columns that both rows have.
  [[nodiscard]] __device__ int shared() const { return shared_; }

  /// Of at least one shared column; NaN where there is none.
  [[nodiscard]] __device__ double statistic() const {
    auto* const sorted = reinterpret_cast<double*>(pairs_);
    __syncwarp();  // the pair before has been read
    const row_spread of_x = spread(x_, y_, sorted);
    const row_spread of_y = spread(y_, x_, sorted + places(cols_));
    if (!of_x.varies || !of_y.varies) return detail::no_statistic;
    __syncwarp();  // both have been read
    double2 largest = gather(of_x, of_y);
    __syncwarp();
    if (!(of_x.weigh.reach > 0)) largest.x = take_off_means(0);
    if (!(of_y.weigh.reach > 0)) largest.y = take_off_means(1);
    const unit_factors to_x(largest_of_warp(largest.x));
    const unit_factors to_y(largest_of_warp(largest.y));
    if (!to_x.has_statistic || !to_y.has_statistic) return detail::no_statistic;
    return product(to_x, to_y);
  }

 private:
  static constexpr int step = detail::partial_sums;

  // What a row is in the columns that its partner has too.
  struct row_spread {
    bool varies;
    double scale;
    detail::biweight weigh;  // the scaled values
  };

  // detail::power_of_two_scale of a magnitude that is finite, by its exponent.
  static __device__ double scale_of(double magnitude) {
    constexpr int bias = 1023;
    const int exponent = max(__double2hiint(magnitude) >> 20, 1) - bias;
    return __hiloint2double((bias - min(exponent, 1022)) << 20, 0);
  }

  // A row is scaled twice: what is left of the first time may be a subnormal number.
  struct unit_factors {
    bool has_statistic;
    double first;
    double second;

    explicit __device__ unit_factors(double largest)
        : has_statistic(largest > 0), first(scale_of(largest)), second(scale_of(largest * first)) {}
    [[nodiscard]] __device__ double of(double value) const { return value * first * second; }
  };

  static __device__ int lane() { return static_cast<int>(threadIdx.x % 32); }
  static __device__ unsigned lanes_below() { return (1U << lane()) - 1; }

  // Of magnitudes, which have the order of their bits.
  static __device__ double largest_of_warp(double magnitude) {
    const auto high = static_cast<unsigned>(__double2hiint(magnitude));
    const auto low = static_cast<unsigned>(__double2loint(magnitude));
    const unsigned most = warp_max(high);
    const unsigned behind = warp_max(high == most ? low : 0U);
    return __hiloint2double(static_cast<int>(most), static_cast<int>(behind));
  }
  // Adds up the partial sums of each eight lanes, as combine_partial_sums does.
  static __device__ double combine(double partial) {
    return group_sum<detail::partial_sums>(partial);
  }

  [[nodiscard]] __device__ int count_shared() const {
    int count = 0;
    for (int w = lane(); 32 * w < cols_; w += 32) count += __popc(x_.present[w] & y_.present[w]);
    return warp_sum(count);
  }

  // `to`: [shared] the values of `row`, sorted.
  __device__ row_spread spread(const biweight_row& row, const biweight_row& partner,
                               double* to) const {
    int count = 0;
#pragma unroll 4
    for (int begin = 0; begin < cols_; begin += 32) {
      const int place = begin + lane();
      const unsigned col = place < cols_ ? row.order[place] : no_column;
      const bool is_shared = col != no_column && partner.has(col);
      const unsigned word = __ballot_sync(all_lanes, is_shared);
      if (is_shared) to[count + __popc(word & lanes_below())] = row.sorted[place];
      count += __popc(word);
    }
    __syncwarp();
    const double least = to[0];
    const double most = to[shared_ - 1];
    const double scale = scale_of(fmax(fabs(least), fabs(most)));
    const auto lower = static_cast<int>(detail::lower_middle(shared_));
    const auto upper = static_cast<int>(detail::upper_middle(shared_));
    const auto value = [to, scale](int place) { return detail::in_scale(to[place], scale); };
    const detail::row_median median{value(lower), value(upper)};
    const auto distance = [&](int place) { return median.twice_distance(value(place)); };
    const double nearer = deviation(lower, distance);
    const double farther = upper == lower ? nearer : deviation(upper, distance);
    return {least != most, scale, detail::biweight(median, {nearer, farther})};
  }

  // The magnitude of distance(place) that has `rank` smaller ones or equal ones before it. Those
  // are of neighbours [a, a + rank], and the magnitude is that of an end: the least, over all such
  // a, of the larger one of both ends. One end falls in a and the other rises.
  template <class Distance>
  __device__ double deviation(int rank, const Distance& distance) const {
    const int ranges = shared_ - rank;
    int falling = 0;  // ranges whose first value is farther from the median than the last
    for (int begin = 0; begin < ranges; begin += 32) {
      const int a = begin + lane();
      const bool falls = a < ranges && -distance(a) > distance(a + rank);
      const unsigned word = __ballot_sync(all_lanes, falls);
      falling += __popc(word);
      if (word != all_lanes) break;
    }
    if (falling == 0) return distance(rank);
    const double before = -distance(falling - 1);
    return falling == ranges ? before : fmin(before, distance(falling + rank));
  }

  // Writes the values of both rows in the order of the columns: in scale, and weighted where the
  // MAD of the row is not 0. Zeros fill the last step of partial sums. The largest magnitudes that
  // this lane wrote.
  __device__ double2 gather(const row_spread& of_x, const row_spread& of_y) const {
    double2 largest{0, 0};
    int count = 0;
    for (int w = 0; 32 * w < cols_; ++w) {
      const unsigned both = x_.present[w] & y_.present[w];
      if ((both >> lane() & 1) != 0) {
        const int col = 32 * w + lane();
        double2 value{detail::in_scale(x_.values[col], of_x.scale),
                      detail::in_scale(y_.values[col], of_y.scale)};
        if (of_x.weigh.reach > 0) value.x = of_x.weigh.of(value.x);
        if (of_y.weigh.reach > 0) value.y = of_y.weigh.of(value.y);
        largest.x = fmax(largest.x, fabs(value.x));
        largest.y = fmax(largest.y, fabs(value.y));
        pairs_[count + __popc(both & lanes_below())] = value;
      }
      count += __popc(both);
    }
    if (shared_ + lane() < places(shared_)) pairs_[shared_ + lane()] = {0, 0};
    return largest;
  }

  // Takes the mean of x (side 0) or of y off its values, and once more that of what is left. The
  // largest magnitude of this lane.
  __device__ double take_off_means(int side) const {
    double* const row = reinterpret_cast<double*>(pairs_) + side;
    for (int pass = 0; pass < 2; ++pass) {
      double sum = 0;
      for (int k = lane() % step; k < shared_; k += step) sum += row[2 * k];
      const double mean = combine(sum) / static_cast<double>(shared_);
      __syncwarp();  // all have been read
      for (int k = lane(); k < shared_; k += 32) row[2 * k] -= mean;
      __syncwarp();
    }
    double largest = 0;
    for (int k = lane(); k < shared_; k += 32) largest = fmax(largest, fabs(row[2 * k]));
    return largest;
  }

  // Of the rows that `pairs_` holds, scaled to unit length.
  __device__ double product(const unit_factors& to_x, const unit_factors& to_y) const {
    const auto end = static_cast<int>(places(shared_));
    // Eight lanes add up the squares of x, the next eight those of y.
    const int side = lane() / step % 2;
    const double* const row = reinterpret_cast<const double*>(pairs_) + side;
    const unit_factors of_row = side == 0 ? to_x : to_y;
    double square = 0;
#pragma unroll 4
    for (int k = lane() % step; k < end; k += step) {
      const double value = of_row.of(row[2 * k]);
      square = fma(value, value, square);
    }
    const double length = sqrt(combine(square));
    const double length_x = __shfl_sync(all_lanes, length, 0);
    const double length_y = __shfl_sync(all_lanes, length, step);
    __syncwarp();  // all have been read
    for (int k = lane(); k < shared_; k += 32) {
      const double2 value = pairs_[k];
      pairs_[k] = {to_x.of(value.x) / length_x, to_y.of(value.y) / length_y};
    }
    __syncwarp();
    double dot = 0;
#pragma unroll 4
    for (int k = lane() % step; k < end; k += step) {
      const double2 value = pairs_[k];
      dot = fma(value.x, value.y, dot);
    }
    return detail::clip_correlation(combine(dot));
  }

  const biweight_row& x_;
  const biweight_row& y_;
  int cols_;
  double2* pairs_;
  int shared_;
};

}  // namespace gpu::kernels
