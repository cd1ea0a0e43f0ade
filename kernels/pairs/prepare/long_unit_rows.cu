// Unit rows of long rows, in the order of sums of stats/unit_rows.hpp.
//
// A block a row. Each of the eight partial sums is one chain of additions, however long the row is;
// so while eight lanes of the first warp add up a chunk that lies in shared memory, the other warps
// prepare the next one. What needs no order (the survey, the largest rest, the division) takes all
// threads. The row is read once for each pass, from L2 after the first. Compiled with -fmad=false.

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/long_unit_rows.hpp"
#include "kernels/pairs/prepare/unit_rows.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int adders = 32;             // the first warp, of which eight lanes add
constexpr int chunk = 128;             // elements of a lane
constexpr int ahead = 4;               // pairs of elements that an adder loads ahead
constexpr int lane_pitch = chunk + 2;  // neither stores nor pairs of loads meet in a bank

/// One row of a block. Element k belongs to lane k mod 8.
template <class T>
class long_row {
 public:
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
    const index_t chunks = ceil_div(cols_, index_t{chunk * unit_lanes});
    const int thread = static_cast<int>(threadIdx.x);
    double partial = 0;
    fill(0, thread, threads, value);
    __syncthreads();
    for (index_t c = 0; c < chunks; ++c) {
      if (thread >= adders) {
        if (c + 1 < chunks) fill(c + 1, thread - adders, threads - adders, value);
      } else if (thread < unit_lanes) {
        partial = add_chunk<squares>(c, thread, partial);
      }
      __syncthreads();
    }
    __shared__ double total;
    if (thread < unit_lanes) {
      const double all = row_lanes().sum(partial);
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
__device__ double largest_of_block(double value) {
  __shared__ double of_warp[warps];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(~0U, value, step);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  double out = of_warp[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) out = of_warp[w] > out ? of_warp[w] : out;
  __syncthreads();
  return out;
}

/// What a row is; `largest` becomes its largest magnitude. All threads.
template <class T>
__device__ std::int64_t survey_row(const long_row<T>& row, double first, detail::row_centre centre,
                                   double& largest) {
  row_survey seen;
  row.for_each([&](double value) { seen.see(value, first); });
  largest = largest_of_block(seen.largest);
  const bool any_nan = __syncthreads_or(seen.nan) != 0;
  const bool any_varies = __syncthreads_or(seen.varies) != 0;
  if (any_nan) return nan_row;
  if (!(largest <= 1.7976931348623157e308)) return infinite_row;
  const bool constant = detail::is_centred(centre) ? !any_varies : largest == 0;
  return constant ? constant_row : ordinary_row;
}

template <class T>
__global__ void __launch_bounds__(threads)
    long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, index_t segment,
                   double* out, std::int64_t* status) {
  __shared__ __align__(16) double buffers[2 * unit_lanes * lane_pitch];
  const index_t number = blockIdx.x;
  const T* const in = data.row(number);
  const long_row<T> row(in, data.cols(), buffers);
  double largest = 0;
  unit_scaling to;
  to.kind = survey_row(row, static_cast<double>(in[0]), centre, largest);
  if (to.kind == ordinary_row) {
    to.scale = detail::power_of_two_scale(largest);
    const double columns = static_cast<double>(data.cols());
    if (detail::is_centred(centre)) {
      const auto scaled = [&](double value) { return value * to.scale; };
      const double mean = row.template sum<false>(scaled) / columns;
      to.mean = mean;
      const auto centred = [&](double value) { return value * to.scale - to.mean; };
      to.mean_of_rest = row.template sum<false>(centred) / columns;
    }
    double rest = 0;
    row.for_each([&](double value) {
      const double magnitude = fabs(to.centred(value));
      rest = magnitude > rest ? magnitude : rest;
    });
    rest = largest_of_block(rest);
    if (rest == 0) to.kind = constant_row;
    if (to.kind == ordinary_row) {
      to.rest_scale = detail::power_of_two_scale(rest);
      to.length = sqrt(row.template sum<true>([&](double value) { return to.scaled(value); }));
    }
  }
  if (threadIdx.x == 0) status[number] = to.kind;
  row.write(segment, out + number * unit_lanes * segment, [&](double value) {
    return to.kind == ordinary_row ? to.scaled(value) / to.length : 0.0;
  });
}

}  // namespace

template <class T>
void launch_long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                           std::int64_t* square_sums, cudaStream_t stream) {
  if (data.rows() == 0) return;
  long_unit_rows<T><<<grid_blocks(data.rows(), 1), threads, 0, stream>>>(
      data, centre, unit_row_layout(data.cols()).segment, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template void launch_long_unit_rows<T>(device_matrix_view<const T>, detail::row_centre, double*, \
                                         std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
