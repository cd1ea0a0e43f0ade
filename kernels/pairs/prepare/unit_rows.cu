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
      for (int k = lane; k < cols; k += 32) kept[r * layout.row + layout.at(k)] = in[k];
    }
  }
  __syncwarp();
}

/// Looks through a row, of which the lane has the `count` elements at `mine`.
template <class T>
__device__ unit_scaling find_scaling(const row_lanes& group, const T* mine, int count, double first,
                                     int cols, detail::row_centre centre) {
  row_survey survey;
  for (int q = 0; q < count; ++q) survey.see(static_cast<double>(mine[q]), first);
  unit_scaling out;
  out.kind = survey.kind(group, centre);
  out.scale = out.kind == ordinary_row ? detail::power_of_two_scale(survey.largest) : 0;
  if (detail::is_centred(centre)) {
    const double columns = static_cast<double>(cols);
    double sum = 0;
    for (int q = 0; q < count; ++q) sum += static_cast<double>(mine[q]) * out.scale;
    out.mean = group.sum(sum) / columns;
    sum = 0;
    for (int q = 0; q < count; ++q) sum += static_cast<double>(mine[q]) * out.scale - out.mean;
    out.mean_of_rest = group.sum(sum) / columns;
  }
  double rest = 0;
  for (int q = 0; q < count; ++q) {
    const double value = out.centred(static_cast<double>(mine[q]));
    rest = fabs(value) > rest ? fabs(value) : rest;
  }
  rest = group.largest(rest);
  if (out.kind == ordinary_row && rest == 0) out.kind = constant_row;
  out.rest_scale = out.kind == ordinary_row ? detail::power_of_two_scale(rest) : 0;
  double squares = 0;
  for (int q = 0; q < count; ++q) {
    const double value = out.scaled(static_cast<double>(mine[q]));
    squares = fma(value, value, squares);
  }
  out.length = sqrt(group.sum(squares));
  return out;
}

/// Writes one unit row from the row at `kept`. All lanes of the warp: element `at` of the output is
/// element q of segment s, and the next one of a lane is 32 further on.
template <class T>
__device__ void store_row(const T* kept, const unit_scaling& scaling, const kept_row_layout& layout,
                          int cols, int segment, double* out) {
  const int step_s = 32 / segment;
  const int step_q = 32 % segment;
  int s = static_cast<int>(threadIdx.x % 32) / segment;
  int q = static_cast<int>(threadIdx.x % 32) % segment;
  for (int at = static_cast<int>(threadIdx.x % 32); at < lanes * segment; at += 32) {
    const int lane = segment_of_lane(s);  // its own inverse
    double value = 0;
    if (scaling.kind == ordinary_row && q < elements_of_lane(cols, lane)) {
      value = scaling.scaled(static_cast<double>(kept[lane * layout.pitch + q])) / scaling.length;
    }
    out[at] = value;
    s += step_s;
    q += step_q;
    if (q >= segment) {
      q -= segment;
      ++s;
    }
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

  const row_lanes group;
  const int own = static_cast<int>(threadIdx.x % 32) / lanes;
  const bool there = first + own < data.rows();
  const T* row = kept + own * layout.row;
  const unit_scaling scaling = find_scaling(group, row + group.lane() * layout.pitch,
                                            there ? elements_of_lane(cols, group.lane()) : 0,
                                            there ? static_cast<double>(row[0]) : 0, cols, centre);
  if (there && group.lane() == 0) status[first + own] = scaling.kind;

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
