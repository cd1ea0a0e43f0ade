// Rows of the biweight midcorrelation: the medians by exact selection among the keys of the values,
// the rest as stats/row_transform.hpp says. Compiled with -fmad=false.
//
// Up to 256 columns a warp has a row in registers and finds a key bit by bit, by counting the keys
// below. Longer rows have a block each: it finds a key eight bits a pass, by the counts of the next
// eight bits among the keys that begin as found so far. Passes over a long row read it from L2;
// each thread reads what it wrote itself.

#include <bit>
#include <cstdint>

#include "base/ordered_key.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/prepare/long_row.cuh"
#include "kernels/pairs/prepare/transform_rows.hpp"
#include "kernels/pairs/prepare/unit_rows.cuh"
#include "stats/row_transform.hpp"

namespace gpu::kernels {
namespace {

constexpr double largest_double = 1.7976931348623157e308;

using row_key = std::uint64_t;

// ---- short rows -------------------------------------------------------------------------------

constexpr int short_threads = 256;
constexpr int most_values = 8;  // of a lane

/// The keys of a row that a warp has: lane l those of the columns l + 32 v. Places behind the row
/// hold keys above all others.
template <int values>
class warp_keys {
 public:
  template <class Value>
  __device__ warp_keys(int cols, const Value& value) : cols_(cols) {
#pragma unroll
    for (int v = 0; v < values; ++v) {
      const bool there = static_cast<int>(threadIdx.x % 32) + 32 * v < cols;
      keys_[v] = there ? detail::ordered_key(value(v)) : ~row_key{0};
    }
  }
  [[nodiscard]] __device__ detail::row_median median() const {
    const int middle = static_cast<int>(detail::lower_middle(cols_));
    const row_key lower = key_at(middle);
    row_key upper = lower;
    if (detail::upper_middle(cols_) != middle && below(lower + 1) == middle + 1) {
      upper = least_above(lower);
    }
    return {detail::value_of_key<double>(lower), detail::value_of_key<double>(upper)};
  }

 private:
  [[nodiscard]] __device__ int below(row_key limit) const {
    int count = 0;
#pragma unroll
    for (int v = 0; v < values; ++v) count += __popc(__ballot_sync(~0U, keys_[v] < limit));
    return count;
  }
  /// The key with `before` keys below it or equal to it, in the order of the keys.
  [[nodiscard]] __device__ row_key key_at(int before) const {
    row_key found = 0;
    for (int bit = 63; bit >= 0; --bit) {
      const row_key trial = found | row_key{1} << bit;
      if (below(trial) <= before) found = trial;
    }
    return found;
  }
  [[nodiscard]] __device__ row_key least_above(row_key limit) const {
    row_key least = ~row_key{0};
#pragma unroll
    for (int v = 0; v < values; ++v) {
      if (keys_[v] > limit && keys_[v] < least) least = keys_[v];
    }
    return warp_min(least);
  }

  int cols_;
  row_key keys_[values];
};

/// A row of a warp: value v of a lane is of column lane + 32 v.
template <int values>
struct warp_row {
  double* row;
  int cols;
  double x[values];

  __device__ warp_row(double* from, int columns) : row(from), cols(columns) {
#pragma unroll
    for (int v = 0; v < values; ++v) x[v] = holds(v) ? row[place(v)] : 0.0;
  }
  [[nodiscard]] __device__ static int place(int v) {
    return static_cast<int>(threadIdx.x % 32) + 32 * v;
  }
  [[nodiscard]] __device__ bool holds(int v) const { return place(v) < cols; }
  __device__ void write() const {
#pragma unroll
    for (int v = 0; v < values; ++v) {
      if (holds(v)) row[place(v)] = x[v];
    }
  }
  /// Each group of eight lanes adds up the whole row from memory.
  __device__ void take_off_mean() {
    write();
    __syncwarp();
    const row_lanes group;
    double partial = 0;
    for (int k = group.lane(); k < cols; k += unit_lanes) partial += row[k];
    const double mean = group.sum(partial) / static_cast<double>(cols);
    __syncwarp();
#pragma unroll
    for (int v = 0; v < values; ++v) x[v] -= mean;
  }
};

template <int values>
__global__ void __launch_bounds__(short_threads)
    biweight_short(double* rows, index_t count, int cols) {
  const index_t number = (index_t{blockIdx.x} * short_threads + threadIdx.x) / 32;
  if (number >= count) return;
  warp_row<values> own(rows + number * cols, cols);
  const double first = __shfl_sync(~0U, own.x[0], 0);
  double largest = 0;
  bool finite = true;
  bool varies = false;
#pragma unroll
  for (int v = 0; v < values; ++v) {
    const double magnitude = fabs(own.x[v]);
    finite = finite && magnitude <= largest_double;
    largest = magnitude > largest ? magnitude : largest;
    varies = varies || (own.holds(v) && own.x[v] != first);
  }
  if (!__all_sync(~0U, finite)) return;
  const bool any_varies = __any_sync(~0U, varies);
  largest = warp_reduce(largest, [](double a, double b) { return b > a ? b : a; });
  const double scale = any_varies ? detail::power_of_two_scale(largest) : 0.0;
#pragma unroll
  for (int v = 0; v < values; ++v) own.x[v] = detail::in_scale(own.x[v], scale);
  if (any_varies) {
    const detail::row_median middle =
        warp_keys<values>(cols, [&](int v) { return own.x[v]; }).median();
    const auto distance = [&](int v) { return fabs(middle.twice_distance(own.x[v])); };
    const detail::biweight weigh(middle, warp_keys<values>(cols, distance).median());
    if (weigh.reach > 0) {
#pragma unroll
      for (int v = 0; v < values; ++v) own.x[v] = weigh.of(own.x[v]);
    } else {
      own.take_off_mean();
      own.take_off_mean();
    }
  }
  own.write();
}

// ---- long rows --------------------------------------------------------------------------------

constexpr int threads = long_row_threads;
constexpr int warps = threads / 32;
constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;

/// Finds keys of a row of a block. Element k of the row is looked at by thread k mod `threads`.
class block_keys {
 public:
  __device__ explicit block_keys(index_t cols) : cols_(cols) {}

  /// The median of value(k). All threads; all get it.
  template <class Value>
  __device__ detail::row_median median(const Value& value) const {
    const auto key = [&](index_t k) { return detail::ordered_key(value(k)); };
    const index_t middle = detail::lower_middle(cols_);
    const selection lower = select(middle, key);
    row_key upper = lower.key;
    if (detail::upper_middle(cols_) != middle && lower.not_above == middle + 1) {
      upper = least_above(lower.key, key);
    }
    return {detail::value_of_key<double>(lower.key), detail::value_of_key<double>(upper)};
  }

 private:
  struct selection {
    row_key key;
    index_t not_above;  // keys that are at most `key`
  };

  template <class Key>
  __device__ selection select(index_t before, const Key& key) const {
    __shared__ unsigned counts[digits];
    __shared__ int chosen;
    __shared__ unsigned counts_below;
    row_key found = 0;
    index_t below = 0;  // keys below every key that begins as `found`
    index_t equal = cols_;
    for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
      counts[threadIdx.x] = 0;
      __syncthreads();
      const row_key known = shift == 64 - digit_bits ? 0 : ~row_key{0} << (shift + digit_bits);
      count_digits(key, found, known, shift, counts);
      __syncthreads();
      if (threadIdx.x < 32) choose(before - below, counts, chosen, counts_below);
      __syncthreads();
      found |= static_cast<row_key>(chosen) << shift;
      below += counts_below;
      equal = counts[chosen];
      __syncthreads();
    }
    return {found, below + equal};
  }

  /// Adds up the digits at `shift` of the keys that equal `found` where `known` says. Lanes of a
  /// warp that have the digit of its first one are counted together: rows with many equal values
  /// would queue otherwise.
  template <class Key>
  __device__ void count_digits(const Key& key, row_key found, row_key known, int shift,
                               unsigned* counts) const {
    for (index_t base = 0; base < cols_; base += threads) {
      const index_t k = base + threadIdx.x;
      int digit = -1;
      if (k < cols_) {
        const row_key own = key(k);
        if ((own & known) == found) digit = static_cast<int>(own >> shift) & (digits - 1);
      }
      const unsigned counted = __ballot_sync(~0U, digit >= 0);
      if (counted == 0) continue;
      const int leader = __ffs(static_cast<int>(counted)) - 1;
      const int of_leader = __shfl_sync(~0U, digit, leader);
      const unsigned alike = __ballot_sync(~0U, digit == of_leader);
      if (static_cast<int>(threadIdx.x % 32) == leader) {
        atomicAdd(counts + of_leader, static_cast<unsigned>(__popc(alike)));
      } else if (digit >= 0 && digit != of_leader) {
        atomicAdd(counts + digit, 1U);
      }
    }
  }

  /// The digit that holds place `before`, and how many keys have smaller ones. The first warp.
  __device__ static void choose(index_t before, const unsigned* counts, int& chosen,
                                unsigned& counts_below) {
    constexpr int of_lane = digits / 32;
    const int lane = static_cast<int>(threadIdx.x);
    unsigned own = 0;
    for (int d = 0; d < of_lane; ++d) own += counts[lane * of_lane + d];
    unsigned through = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(~0U, through, step);
      if (lane >= step) through += other;
    }
    unsigned sum = through - own;
    const auto place = static_cast<unsigned>(before);
    if (sum <= place && place < through) {
      int d = lane * of_lane;
      while (sum + counts[d] <= place) sum += counts[d++];
      chosen = d;
      counts_below = sum;
    }
  }

  template <class Key>
  __device__ row_key least_above(row_key limit, const Key& key) const {
    __shared__ row_key of_warp[warps];
    row_key least = ~row_key{0};
    for (index_t k = threadIdx.x; k < cols_; k += threads) {
      const row_key own = key(k);
      if (own > limit && own < least) least = own;
    }
    least = warp_min(least);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = least;
    __syncthreads();
    least = of_warp[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) least = of_warp[w] < least ? of_warp[w] : least;
    __syncthreads();
    return least;
  }

  index_t cols_;
};

__device__ void take_off_mean_of_long(double* row, index_t cols, double* buffers) {
  __syncthreads();  // what others wrote
  const double sum = long_row<double>(row, cols, buffers).sum<false>([](double x) { return x; });
  const double mean = sum / static_cast<double>(cols);
  for (index_t k = threadIdx.x; k < cols; k += threads) row[k] -= mean;
}

__global__ void __launch_bounds__(threads) biweight_long(double* rows, index_t cols) {
  __shared__ __align__(16) double buffers[long_row<double>::buffer_elements];
  double* const row = rows + index_t{blockIdx.x} * cols;
  const double first = row[0];
  double largest = 0;
  bool bad = false;
  bool varies = false;
  for (index_t k = threadIdx.x; k < cols; k += threads) {
    const double magnitude = fabs(row[k]);
    bad = bad || !(magnitude <= largest_double);
    largest = magnitude > largest ? magnitude : largest;
    varies = varies || row[k] != first;
  }
  if (__syncthreads_or(bad) != 0) return;
  const bool any_varies = __syncthreads_or(varies) != 0;
  largest = largest_of_block(largest);
  const double scale = any_varies ? detail::power_of_two_scale(largest) : 0.0;
  for (index_t k = threadIdx.x; k < cols; k += threads) row[k] = detail::in_scale(row[k], scale);
  if (!any_varies) return;

  const block_keys keys(cols);
  const detail::row_median middle = keys.median([&](index_t k) { return row[k]; });
  const detail::biweight weigh(
      middle, keys.median([&](index_t k) { return fabs(middle.twice_distance(row[k])); }));
  if (weigh.reach > 0) {
    for (index_t k = threadIdx.x; k < cols; k += threads) row[k] = weigh.of(row[k]);
  } else {
    take_off_mean_of_long(row, cols, buffers);
    take_off_mean_of_long(row, cols, buffers);
  }
}

template <int values>
void launch_short(double* rows, index_t count, index_t cols, cudaStream_t stream) {
  if constexpr (values < most_values) {
    if (cols > 32 * values) return launch_short<2 * values>(rows, count, cols, stream);
  }
  biweight_short<values><<<grid_blocks(count, short_threads / 32), short_threads, 0, stream>>>(
      rows, count, static_cast<int>(cols));
}

}  // namespace

void launch_biweight_rows(double* rows, index_t count, index_t cols, cudaStream_t stream) {
  if (count == 0) return;
  if (cols <= 32 * most_values) {
    launch_short<1>(rows, count, cols, stream);
  } else {
    biweight_long<<<grid_blocks(count, 1), threads, 0, stream>>>(rows, cols);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
