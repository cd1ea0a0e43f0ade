// Few unit rows times many others, which are read once: a warp keeps its rows as they came in
// shared memory, next to the few, finds how each becomes a unit row, and multiplies. Sums are in
// the order of stats/unit_rows.hpp.
//
// A short row has a thread to itself, with all eight partial sums, and becomes a unit row in its
// place; what a warp reads of the few rows is then one address. A longer one has eight threads, a
// partial sum each, which scale its elements anew for every group of the few rows.

#include "kernels/pairs/prepare/few_rows.hpp"

#include <math_constants.h>

#include <algorithm>

#include "base/element_types.hpp"
#include "kernels/common/async_copy.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/unit_rows.cuh"

namespace gpu::kernels {
namespace {

constexpr int most_warps = 16;
constexpr int usual_warps = 8;
constexpr index_t short_columns = 128;
constexpr int least_warps = 2;
constexpr index_t most_few_rows = 16;
// Rows that are multiplied together: of short ones, and of longer ones if there is more than one.
constexpr int short_together = 4;
constexpr int together_of_many = 10;

// Elements of one of the few rows: whole groups of eight.
constexpr index_t few_pitch(index_t cols) {
  return round_up(cols, unit_lanes);
}
// Bytes from one row of a warp to the next, so that its threads do not meet in a bank: a row of
// doubles of odd length, or one that is 8 elements behind whole sets of banks.
constexpr index_t row_bytes(index_t cols, std::size_t element_bytes) {
  if (cols <= short_columns) return (few_pitch(cols) + 1) * index_t{sizeof(double)};
  return ((cols + 23) / 32 * 32 + 8) * static_cast<index_t>(element_bytes);
}
constexpr index_t warp_bytes(index_t cols, std::size_t element_bytes) {
  return row_bytes(cols, element_bytes) * (cols <= short_columns ? 32 : 32 / unit_lanes);
}

struct few_rows_arguments {
  few_rows by;
  index_t first;
  detail::row_centre centre;
  int padded_rows;  // of the few: whole groups of those that are multiplied together
  std::int64_t* square_sums;
};

// Brings rows [first, first + count) of the warp to `to`, `pitch` bytes from one to the next.
template <class T>
__device__ void copy_rows(device_matrix_view<const T> data, index_t first, int count,
                          unsigned char* to, int pitch) {
  const int cols = static_cast<int>(data.cols());
  const int lane = static_cast<int>(threadIdx.x % 32);
  __syncwarp();  // the rows before have been read
#pragma unroll 4
  for (int r = 0; r < count; ++r) {
    const T* const from = data.row(first + r);
    T* const row = reinterpret_cast<T*>(to + r * pitch);
    for (int k = lane; k < cols; k += 32) async_copy_element(row + k, from + k);
  }
  async_copy_commit();
  async_copy_wait<0>();
  __syncwarp();
}

template <class T, int lanes, int together>
__global__ void __launch_bounds__(most_warps * 32, 1)
    multiply_few_rows(device_matrix_view<const T> data,
                      const __grid_constant__ few_rows_arguments args) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int rows_of_warp = 32 / lanes;
  const few_rows& by = args.by;
  const int cols = static_cast<int>(data.cols());
  const int pitch = static_cast<int>(few_pitch(cols));
  const int segment = static_cast<int>(unit_row_layout(cols).segment);
  auto* const few = reinterpret_cast<double*>(shared);
  for (int at = static_cast<int>(threadIdx.x); at < args.padded_rows * pitch;
       at += static_cast<int>(blockDim.x)) {
    const int row = at / pitch;
    const int k = at % pitch;
    const index_t place = index_t{row} * (unit_lanes * segment) +
                          segment_of_lane(k % unit_lanes) * segment + k / unit_lanes;
    few[at] = row < by.count ? by.unit_rows[place] : 0.0;
  }
  __syncthreads();

  const int warps = static_cast<int>(blockDim.x) / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row_pitch = static_cast<int>(row_bytes(cols, sizeof(T)));
  unsigned char* const rows = reinterpret_cast<unsigned char*>(few + args.padded_rows * pitch) +
                              warp * rows_of_warp * row_pitch;
  const row_part<lanes> part;
  const int own = static_cast<int>(threadIdx.x % 32) / lanes;
  unsigned char* const own_row = rows + own * row_pitch;
  const T* const kept = reinterpret_cast<const T*>(own_row);
  const index_t step = index_t{gridDim.x} * warps * rows_of_warp;
  for (index_t first = (index_t{blockIdx.x} * warps + warp) * rows_of_warp; first < data.rows();
       first += step) {
    const auto count = static_cast<int>(min(data.rows() - first, index_t{rows_of_warp}));
    copy_rows(data, first, count, rows, row_pitch);
    const bool there = own < count;
    const unit_scaling scaling = find_scaling(
        part, there ? cols : 0, cols, args.centre, [&](int k) { return kept[k]; },
        there ? kept[0] : T{});
    if (there && part.lane() == 0) args.square_sums[first + own] = scaling.kind;
    const bool is_ordinary = there && scaling.kind == ordinary_row;
    const double inverse = 1 / scaling.length;
    const auto unit = [&](double value) {
      return divide_by_length<T>(scaling.scaled(value), scaling.length, inverse);
    };
    if constexpr (lanes == 1) {
      // From the end, eight at a time: an element never lies behind its double.
      const auto* const from = reinterpret_cast<const volatile T*>(own_row);
      auto* const units = reinterpret_cast<volatile double*>(own_row);
      for (int k = pitch - unit_lanes; k >= 0; k -= unit_lanes) {
        double mine[unit_lanes];
#pragma unroll
        for (int s = 0; s < unit_lanes; ++s) mine[s] = static_cast<double>(T{from[k + s]});
#pragma unroll
        for (int s = 0; s < unit_lanes; ++s) {
          const double value = unit(mine[s]);
          units[k + s] = is_ordinary && k + s < cols ? value : 0.0;
        }
      }
    }
    for (int begin = 0; begin < by.count; begin += together) {
      double sums[together][row_part<lanes>::sums] = {};
      const double* const these = few + begin * pitch;
      if constexpr (lanes == 1) {
        const auto* const units = reinterpret_cast<const volatile double*>(own_row);
#pragma unroll 1  // the sums fill the registers
        for (int k = 0; k < pitch; k += unit_lanes) {
          double mine[unit_lanes];
#pragma unroll
          for (int s = 0; s < unit_lanes; ++s) mine[s] = units[k + s];
#pragma unroll
          for (int i = 0; i < together; ++i) {
            const auto* const pairs = reinterpret_cast<const double2*>(these + i * pitch + k);
#pragma unroll
            for (int s = 0; s < unit_lanes; s += 2) {
              const double2 two = pairs[s / 2];
              sums[i][s] = fma(two.x, mine[s], sums[i][s]);
              sums[i][s + 1] = fma(two.y, mine[s + 1], sums[i][s + 1]);
            }
          }
        }
      } else if (is_ordinary) {
        part.for_each(cols, [&](int, int k) {
          const double mine = unit(static_cast<double>(kept[k]));
#pragma unroll
          for (int i = 0; i < together; ++i) {
            sums[i][0] = fma(these[i * pitch + k], mine, sums[i][0]);
          }
        });
      }
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const double statistic = detail::clip_correlation(part.sum(sums[i]));
        const index_t row = begin + i;
        if (!there || row >= by.count || part.lane() != i % lanes) continue;
        const bool has_one = is_ordinary && by.square_sums[row] > 0;
        const double value = has_one ? statistic : CUDART_NAN;
        const index_t at = row * by.pitch + args.first + first + own;
        if (by.floats != nullptr) {
          by.floats[at] = static_cast<float>(value);
        } else {
          by.statistics[at] = value;
        }
      }
    }
  }
}

template <class T, int lanes, int together>
void launch(device_matrix_view<const T> data, few_rows_arguments args, cudaStream_t stream) {
  const cuda::device_limits& limits = cuda::current_limits();
  args.padded_rows = static_cast<int>(round_up(args.by.count, index_t{together}));
  const auto few =
      static_cast<std::size_t>(args.padded_rows * few_pitch(data.cols())) * sizeof(double);
  const auto of_warp = static_cast<std::size_t>(warp_bytes(data.cols(), sizeof(T)));
  const auto most = static_cast<int>(
      std::min<std::size_t>((limits.block_shared_bytes - few) / of_warp, most_warps));
  const bool has_two = 2 * (few + usual_warps * of_warp) <= limits.block_shared_bytes;
  const int warps = has_two ? usual_warps : most;
  const std::size_t bytes = few + static_cast<std::size_t>(warps) * of_warp;
  const auto kernel = multiply_few_rows<T, lanes, together>;
  allow_shared_memory(kernel, bytes);
  const int resident = cuda::resident_blocks_per_multiprocessor(
      reinterpret_cast<const void*>(kernel), warps * 32, bytes);
  const unsigned blocks =
      grid_blocks(data.rows(), warps * (32 / lanes), index_t{limits.multiprocessors} * resident);
  kernel<<<blocks, warps * 32, bytes, stream>>>(data, args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

bool fits_few_rows(index_t rows, index_t cols, std::size_t element_bytes,
                   std::size_t shared_bytes) {
  if (rows > most_few_rows) return false;
  const index_t few = (rows == 1 ? 1 : round_up(rows, index_t{together_of_many})) *
                      few_pitch(cols) * index_t{sizeof(double)};
  return few + least_warps * warp_bytes(cols, element_bytes) <= static_cast<index_t>(shared_bytes);
}

template <class T>
void launch_multiply_few_rows(device_matrix_view<const T> data, detail::row_centre centre,
                              const few_rows& by, index_t first, std::int64_t* square_sums,
                              cudaStream_t stream) {
  if (data.rows() == 0 || by.count == 0) return;
  const few_rows_arguments args{
      .by = by, .first = first, .centre = centre, .padded_rows = 0, .square_sums = square_sums};
  if (data.cols() <= short_columns) return launch<T, 1, short_together>(data, args, stream);
  if (by.count == 1) return launch<T, unit_lanes, 1>(data, args, stream);
  launch<T, unit_lanes, together_of_many>(data, args, stream);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                        \
  template void launch_multiply_few_rows<T>(device_matrix_view<const T>, detail::row_centre, \
                                            const few_rows&, index_t, std::int64_t*,         \
                                            cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
