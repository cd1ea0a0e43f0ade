// The prologue of unit rows, in the order of sums of stats/unit_rows.hpp.
//
// Eight lanes a row, lane c the elements k with k mod 8 = c: its sums are the partial sums, and
// three xor shuffles (4, 2, 1) add them up as combine_partial_sums does, so every bit is the CPU's.
// A block keeps its rows as they came in shared memory and computes each value anew in every pass,
// so global memory is read once and written once. Long rows are those of long_unit_rows.cu.
// Compiled with -fmad=false.
//
// Shared memory: element k of a row at (k mod 8) * pitch + k / 8, as in the output, with pitch = 4
// modulo 32 and rows one word further: neither the load nor the passes nor the store meet in a
// bank.

#include <cuda_fp16.h>

#include <type_traits>

#include "base/element_types.hpp"
#include "kernels/common/async_copy.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/kernels.hpp"
#include "kernels/pairs/prepare/long_unit_rows.hpp"
#include "kernels/pairs/prepare/row_norms.cuh"
#include "kernels/pairs/prepare/unit_rows.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int lanes = unit_lanes;

constexpr int most_rows_of_block = 16;
constexpr std::size_t most_row_bytes = std::size_t{200} << 10;
// Three blocks a multiprocessor, where that leaves a block four rows.
constexpr std::size_t wanted_block_bytes = std::size_t{72} << 10;

/// How a block keeps rows in shared memory, in elements.
struct kept_row_layout {
  int pitch;
  int row;
  explicit __host__ __device__ kept_row_layout(index_t segment)
      : pitch(static_cast<int>((segment + 27) / 32 * 32 + 4)), row(lanes * pitch + 1) {}
  [[nodiscard]] __host__ __device__ int at(int k) const { return k % lanes * pitch + k / lanes; }
};

constexpr int rows_of_warp = 32 / lanes;

/// Brings the rows of the warp to `kept`, one behind the other. Short rows are all on their way
/// before the first element is stored. All lanes of the warp.
template <class T>
__device__ void load_rows(device_matrix_view<const T> data, index_t first,
                          const kept_row_layout& layout, T* kept) {
  constexpr int pieces = 4;
  const int cols = static_cast<int>(data.cols());
  const int rows = static_cast<int>(min(data.rows() - first, index_t{rows_of_warp}));
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (cols <= 32 * pieces) {
    T values[rows_of_warp][pieces];
    const auto for_each = [&](const auto& take) {
#pragma unroll
      for (int r = 0; r < rows_of_warp; ++r) {
#pragma unroll
        for (int p = 0; p < pieces; ++p) {
          if (r < rows && lane + 32 * p < cols) take(r, lane + 32 * p, values[r][p]);
        }
      }
    };
    for_each([&](int r, int k, T& value) { value = data.row(first + r)[k]; });
    for_each([&](int r, int k, const T& value) { kept[r * layout.row + layout.at(k)] = value; });
  } else {
    for (int r = 0; r < rows; ++r) {
      const T* const in = data.row(first + r);
      for (int k = lane; k < cols; k += 32) {
        async_copy_element(kept + r * layout.row + layout.at(k), in + k);
      }
    }
    async_copy_commit();
    async_copy_wait<0>();
  }
  __syncwarp();
}

/// Writes one unit row from the row at `kept`. All lanes of the warp: element `at` of the output is
/// element q of segment s, and the next one of a lane is 32 further on.
template <class T>
__device__ void store_row(const T* kept, const unit_scaling& scaling, const kept_row_layout& layout,
                          int cols, int segment, double* out) {
  const int lane_of_warp = static_cast<int>(threadIdx.x % 32);
  const int step_s = 32 / segment;
  const int step_q = 32 % segment;
  const double inverse = 1 / scaling.length;
  int s = lane_of_warp / segment;
  int q = lane_of_warp % segment;
  const int steps = (lanes * segment - lane_of_warp + 31) / 32;
#pragma unroll 4
  for (int step = 0; step < steps; ++step) {
    const int lane = segment_of_lane(s);  // its own inverse
    const double scaled = scaling.scaled(static_cast<double>(kept[lane * layout.pitch + q]));
    const double value = divide_by_length<T>(scaled, scaling.length, inverse);
    const bool is_there = scaling.kind == ordinary_row && q < elements_of_lane(cols, lane);
    out[lane_of_warp + 32 * step] = is_there ? value : 0.0;
    q += step_q;
    const bool is_next = q >= segment;
    q -= is_next ? segment : 0;
    s += step_s + (is_next ? 1 : 0);
  }
}

/// A warp reads, works on and writes its own rows.
template <class T>
__global__ void __launch_bounds__(most_rows_of_block* lanes)
    unit_rows_shared(device_matrix_view<const T> data, detail::row_centre centre, int segment,
                     double* out, std::int64_t* status) {
  extern __shared__ __align__(16) unsigned char shared[];
  const kept_row_layout layout(segment);
  const int first_of_warp = static_cast<int>(threadIdx.x / 32) * rows_of_warp;
  const index_t first = index_t{blockIdx.x} * (blockDim.x / lanes) + first_of_warp;
  const int cols = static_cast<int>(data.cols());
  T* kept = reinterpret_cast<T*>(shared) + first_of_warp * layout.row;
  load_rows(data, first, layout, kept);

  const row_part<lanes> part;
  const int own = static_cast<int>(threadIdx.x % 32) / lanes;
  const bool there = first + own < data.rows();
  const T* const mine = kept + own * layout.row + part.lane() * layout.pitch;
  const unit_scaling scaling = find_scaling(
      part, there ? cols : 0, cols, centre,
      [&](int k) { return mine[static_cast<unsigned>(k) / lanes]; },
      there ? kept[own * layout.row] : T{});
  if (there && part.lane() == 0) status[first + own] = scaling.kind;

  for (int r = 0; r < rows_of_warp; ++r) {
    const unit_scaling of_row = scaling.of_lane(r * lanes);
    if (first + r >= data.rows()) break;
    store_row(kept + r * layout.row, of_row, layout, cols, segment,
              out + (first + r) * lanes * segment);
  }
}

// Nearest tf32: 10 explicit bits of mantissa.
__device__ float nearest_tf32(float x) {
  return __int_as_float((__float_as_int(x) + 0x1000) & ~0x1fff);
}

// out[at] = convert(value) for every element of unit rows that zeros pad to `columns`.
template <class Out, class Convert>
__device__ void convert_padded(const double* unit, index_t rows, index_t unit_pitch,
                               index_t columns, Out* out, const Convert& convert) {
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < rows * columns; at += step) {
    const index_t row = at / columns;
    const index_t k = at % columns;
    out[at] = convert(k < unit_pitch ? unit[row * unit_pitch + k] : 0);
  }
}

__global__ void split_floats(const double* unit, index_t rows, index_t unit_pitch, index_t columns,
                             float2* out, const __grid_constant__ norm_request norms) {
  const index_t first = index_t{blockIdx.x} * threads + threadIdx.x;
  const index_t step = index_t{gridDim.x} * threads;
  fill_zeros(norms, first, step);
  for (index_t row = first; row < norms.rows; row += step) fill_norm(norms, row);
  convert_padded(unit, rows, unit_pitch, columns, out, [](double value) {
    const float high = nearest_tf32(static_cast<float>(value));
    const float low = nearest_tf32(static_cast<float>(value - static_cast<double>(high)));
    return float2{high, low};
  });
}

__global__ void halve_rows(const double* unit, index_t rows, index_t unit_pitch, index_t pitch,
                           __half* out) {
  convert_padded(unit, rows, unit_pitch, pitch, out,
                 [](double value) { return __double2half(value); });
}

}  // namespace

template <class T>
void launch_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                      std::int64_t* square_sums, cudaStream_t stream) {
  if (data.rows() == 0) return;
  if (data.cols() >= long_row_columns(data.rows())) {
    return launch_long_unit_rows<T>(data, centre, out, square_sums, stream);
  }
  const index_t segment = unit_row_layout(data.cols()).segment;
  const std::size_t row_bytes = static_cast<std::size_t>(kept_row_layout(segment).row) * sizeof(T);
  // Whole warps: at least four rows.
  const auto fitting = static_cast<int>(wanted_block_bytes / row_bytes / 4 * 4);
  const int rows = fitting < 4 ? 4 : (fitting > most_rows_of_block ? most_rows_of_block : fitting);
  allow_shared_memory(unit_rows_shared<T>, most_row_bytes);
  unit_rows_shared<T>
      <<<grid_blocks(data.rows(), rows), rows * lanes, row_bytes* static_cast<std::size_t>(rows),
         stream>>>(data, centre, static_cast<int>(segment), out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_split_floats(const double* unit, index_t rows, index_t unit_pitch, index_t columns,
                         float* out, const norm_request& norms, cudaStream_t stream) {
  if (rows == 0) return launch_row_norms(norms, nullptr, stream);
  split_floats<<<grid_blocks(rows * columns, threads, 1 << 20), threads, 0, stream>>>(
      unit, rows, unit_pitch, columns, reinterpret_cast<float2*>(out), norms);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_halve_rows(const double* unit, index_t rows, index_t unit_pitch, void* out,
                       cudaStream_t stream) {
  if (rows == 0) return;
  const index_t pitch = half_pitch(unit_pitch);
  halve_rows<<<grid_blocks(rows * pitch, threads, 1 << 20), threads, 0, stream>>>(
      unit, rows, unit_pitch, pitch, static_cast<__half*>(out));
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                         \
  template void launch_unit_rows<T>(device_matrix_view<const T>, detail::row_centre, double*, \
                                    std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
