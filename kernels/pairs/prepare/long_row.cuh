#pragma once
// A row of doubles, or of what becomes doubles, that a block has to itself. Compiled with
// -fmad=false.
//
// Each of the eight partial sums is one chain of additions, however long the row is; so while eight
// lanes of the first warp add up a chunk that lies in shared memory, the other warps prepare the
// next one. What needs no order takes all threads.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/prepare/unit_rows.cuh"

namespace gpu::kernels {

/// Threads of a block that has a row of its own.
constexpr int long_row_threads = 256;

/// One row of a block. Element k belongs to lane k mod 8.
template <class T>
class long_row {
 public:
  /// `buffers` is shared memory of buffer_elements doubles.
  static constexpr int chunk = 128;             // elements of a lane
  static constexpr int lane_pitch = chunk + 2;  // neither stores nor pairs of loads meet in a bank
  static constexpr int buffer_elements = 2 * unit_lanes * lane_pitch;

  __device__ long_row(const T* row, index_t cols, double* buffers)
      : row_(row), cols_(cols), buffers_(buffers) {}

  /// Calls see(value) for the elements of this thread.
  template <class See>
  __device__ void for_each(const See& see) const {
#pragma unroll 4
    for (index_t k = threadIdx.x; k < cols_; k += threads) see(static_cast<double>(row_[k]));
  }
  /// The ordered sum of value(x), or with `squares` that of its squares, each fused with its
  /// addition. All threads; all get it.
  template <bool squares, class Value>
  __device__ double sum(const Value& value) const {
    constexpr index_t of_chunk = chunk * unit_lanes;
    static_assert(detail::slice_columns % of_chunk == 0 &&
                  detail::most_whole_columns % of_chunk == 0);
    const index_t chunks = ceil_div(cols_, of_chunk);
    const index_t of_slice = ceil_div(detail::slice_of_row(cols_), of_chunk);
    const int thread = static_cast<int>(threadIdx.x);
    double slices = 0;  // those before
    double partial = 0;
    fill(0, thread, threads, value);
    __syncthreads();
    for (index_t c = 0; c < chunks; ++c) {
      if (thread >= adders) {
        if (c + 1 < chunks) fill(c + 1, thread - adders, threads - adders, value);
      } else if (thread < unit_lanes) {
        if (c > 0 && c % of_slice == 0) {
          slices = c == of_slice ? partial : slices + partial;
          partial = 0;
        }
        partial = add_chunk<squares>(c, thread, partial);
      }
      __syncthreads();
    }
    __shared__ double total;
    if (thread < unit_lanes) {
      const double all = row_lanes().sum(chunks > of_slice ? slices + partial : partial);
      if (thread == 0) total = all;
    }
    __syncthreads();
    const double out = total;
    __syncthreads();  // the next sum writes it again
    return out;
  }
  /// Writes value(x) of every element as unit_row_layout says, zeros behind.
  template <class Value>
  __device__ void write(index_t segment, double* out, const Value& value) const {
    for (index_t k = threadIdx.x; k < segment * unit_lanes; k += threads) {
      const int lane = static_cast<int>(k % unit_lanes);
      out[segment_of_lane(lane) * segment + k / unit_lanes] =
          k < cols_ ? value(static_cast<double>(row_[k])) : 0.0;
    }
  }

 private:
  static constexpr int threads = long_row_threads;
  static constexpr int adders = 32;  // the first warp, of which eight lanes add
  static constexpr int ahead = 4;    // pairs of elements that an adder loads ahead

  [[nodiscard]] __device__ double* buffer(index_t number) const {
    return buffers_ + number % 2 * (unit_lanes * lane_pitch);
  }
  // Threads [0, count) write the values of a chunk to its buffer.
  template <class Value>
  __device__ void fill(index_t number, int thread, int count, const Value& value) const {
    double* const to = buffer(number);
    const index_t first = number * chunk * unit_lanes;
    const T* const from = row_ + first;
    const auto elements = static_cast<int>(min(cols_ - first, index_t{chunk * unit_lanes}));
#pragma unroll 4
    for (int k = thread; k < elements; k += count) {
      to[k % unit_lanes * lane_pitch + k / unit_lanes] = value(static_cast<double>(from[k]));
    }
  }
  template <bool squares>
  __device__ double add_chunk(index_t number, int lane, double partial) const {
    const double* const from = buffer(number) + lane * lane_pitch;
    const index_t left = elements_of_lane(cols_, lane) - number * chunk;
    const auto elements = static_cast<int>(min(left, index_t{chunk}));
    const auto add = [&](double x) { partial = squares ? fma(x, x, partial) : partial + x; };
    const auto* const pairs = reinterpret_cast<const double2*>(from);
    // The next pairs are on their way while these are added: the chain never waits for a load.
    double2 next[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) next[i] = pairs[i];
    int q = 0;
    for (; q + 2 * ahead <= elements; q += 2 * ahead) {
      double2 now[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) now[i] = next[i];
      const int following = min(q / 2 + ahead, chunk / 2 - ahead);
#pragma unroll
      for (int i = 0; i < ahead; ++i) next[i] = pairs[following + i];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        add(now[i].x);
        add(now[i].y);
      }
    }
    for (; q < elements; ++q) add(from[q]);
    return partial;
  }

  const T* row_;
  index_t cols_;
  double* buffers_;
};

/// The largest value over the threads of a block. All threads; all get it.
__device__ inline double largest_of_block(double value) {
  constexpr int warps = long_row_threads / 32;
  __shared__ double of_warp[warps];
  value = warp_reduce(value, [](double a, double b) { return b > a ? b : a; });
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  double out = of_warp[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) out = of_warp[w] > out ? of_warp[w] : out;
  __syncthreads();
  return out;
}

}  // namespace gpu::kernels
