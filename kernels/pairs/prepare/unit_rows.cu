// The prologue of unit rows, in the order of sums of stats/unit_rows.hpp.
//
// Eight lanes a row, lane c the elements k with k mod 8 = c: its sums are the partial sums, and
// three xor shuffles (4, 2, 1) add them up as combine_partial_sums does, so every bit is the CPU's.
// A block keeps its rows as they came in shared memory and computes each value anew in every pass,
// so global memory is read once and written once. Rows beyond that are worked on in their place in
// the output. Compiled with -fmad=false.
//
// Shared memory: element k of a row at (k mod 8) * pitch + k / 8, as in the output, with pitch = 4
// modulo 32 and rows one word further: neither the load nor the passes nor the store meet in a
// bank.

#include <cuda_fp16.h>

#include <type_traits>

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int lanes = detail::partial_sums;

// The eight lanes of one row.
class row_lanes {
 public:
  __device__ row_lanes() : mask_(0xffu << (threadIdx.x % 32 / lanes * lanes)) {}
  [[nodiscard]] __device__ int lane() const { return static_cast<int>(threadIdx.x % lanes); }

  __device__ double sum(double partial) const {
    partial += __shfl_xor_sync(mask_, partial, 4);
    partial += __shfl_xor_sync(mask_, partial, 2);
    return partial + __shfl_xor_sync(mask_, partial, 1);
  }
  __device__ double largest(double value) const {
    for (int step = 4; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(mask_, value, step);
      value = other > value ? other : value;
    }
    return value;
  }
  __device__ bool any(bool value) const { return __any_sync(mask_, value) != 0; }

 private:
  unsigned mask_;
};

__device__ inline int segment_of_lane(int lane) {
  return (lane & 1) << 2 | (lane & 2) | lane >> 2;  // the order 0, 4, 2, 6, 1, 5, 3, 7
}

/// Elements of a row of `cols` that a lane has.
__device__ inline index_t elements_of_lane(index_t cols, int lane) {
  return (cols - lane + lanes - 1) / lanes;
}
__device__ inline int elements_of_lane(int cols, int lane) {
  return (cols - lane + lanes - 1) / lanes;
}

// What a row is, as its status says.
constexpr std::int64_t ordinary_row = 1;
constexpr std::int64_t constant_row = 0;
constexpr std::int64_t nan_row = -1;
constexpr std::int64_t infinite_row = -2;

/// What a lane has seen of a row as it came.
struct row_survey {
  double largest = 0;  // of the magnitudes
  bool nan = false;
  bool varies = false;

  __device__ void see(double value, double first) {
    nan |= value != value;
    largest = fabs(value) > largest ? fabs(value) : largest;
    varies |= value != first;
  }
  /// Puts the lanes together: `largest` becomes that of the row.
  __device__ std::int64_t kind(const row_lanes& group, detail::row_centre centre) {
    largest = group.largest(largest);
    std::int64_t kind = ordinary_row;
    const bool any_varies = group.any(varies);
    if (centre == detail::row_centre::mean ? !any_varies : largest == 0) kind = constant_row;
    if (!(largest <= 1.7976931348623157e308)) kind = infinite_row;
    if (group.any(nan)) kind = nan_row;
    return kind;
  }
};

/// Writes the row times `scale`. With row_centre::mean, less its mean and less the mean of what is
/// left, which rounding of the first mean leaves over. Returns the largest magnitude.
template <class T>
__device__ double centre_row(const row_lanes& group, const T* in, index_t cols, index_t count,
                             detail::row_centre centre, double scale, double* mine) {
  const double columns = static_cast<double>(cols);
  const int passes = centre == detail::row_centre::mean ? 3 : 1;
  double mean = 0;
  double rest = 0;
  for (int pass = 0; pass < passes; ++pass) {
    // Every pass but the last ends with a mean; each pass takes off the mean of the one before.
    double sum = 0;
    for (index_t q = 0; q < count; ++q) {
      const double value =
          pass == 0 ? static_cast<double>(in[q * lanes + group.lane()]) * scale : mine[q] - mean;
      mine[q] = value;
      sum += value;
      rest = pass == passes - 1 && fabs(value) > rest ? fabs(value) : rest;
    }
    mean = group.sum(sum) / columns;
  }
  return group.largest(rest);
}

/// Makes a centred row one of length 1.
__device__ inline void normalise_row(const row_lanes& group, index_t count, double scale,
                                     double* mine) {
  double squares = 0;
  for (index_t q = 0; q < count; ++q) {
    const double value = mine[q] * scale;
    mine[q] = value;
    squares = fma(value, value, squares);
  }
  const double length = sqrt(group.sum(squares));
  for (index_t q = 0; q < count; ++q) mine[q] /= length;
}

/// Works on the rows in their place in the output.
template <class T>
__global__ void unit_rows(device_matrix_view<const T> data, detail::row_centre centre,
                          index_t segment, double* out, std::int64_t* status) {
  const index_t row = (index_t{blockIdx.x} * threads + threadIdx.x) / lanes;
  if (row >= data.rows()) return;
  const row_lanes group;
  const T* in = data.row(row);
  double* mine = out + row * lanes * segment + segment_of_lane(group.lane()) * segment;
  const index_t count = elements_of_lane(data.cols(), group.lane());
  row_survey survey;
  for (index_t q = 0; q < count; ++q) {
    survey.see(static_cast<double>(in[q * lanes + group.lane()]), static_cast<double>(in[0]));
  }
  for (index_t q = count; q < segment; ++q) mine[q] = 0;
  std::int64_t kind = survey.kind(group, centre);
  double rest = 0;
  if (kind == ordinary_row) {
    const double scale = detail::power_of_two_scale(survey.largest);
    rest = centre_row(group, in, data.cols(), count, centre, scale, mine);
    if (rest == 0) kind = constant_row;
  }
  if (kind == ordinary_row) {
    normalise_row(group, count, detail::power_of_two_scale(rest), mine);
  } else {
    for (index_t q = 0; q < count; ++q) mine[q] = 0;
  }
  if (group.lane() == 0) status[row] = kind;
}

constexpr int most_rows_of_block = 16;
constexpr std::size_t most_row_bytes = std::size_t{200} << 10;
// Three blocks a multiprocessor, where that leaves a block four rows.
constexpr std::size_t wanted_block_bytes = std::size_t{72} << 10;

/// How a block keeps rows in shared memory, in elements.
struct shared_rows {
  int pitch;
  int row;
  explicit __host__ __device__ shared_rows(index_t segment)
      : pitch(static_cast<int>((segment + 27) / 32 * 32 + 4)), row(lanes * pitch + 1) {}
  [[nodiscard]] __host__ __device__ int at(int k) const { return k % lanes * pitch + k / lanes; }
};

constexpr int rows_of_warp = 32 / lanes;

/// Brings the warp's rows, of which row 0 is at `kept`. All lanes of the warp.
template <class T>
__device__ void load_rows(device_matrix_view<const T> data, index_t first,
                          const shared_rows& layout, T* kept) {
  const int cols = static_cast<int>(data.cols());
  for (int r = 0; r < rows_of_warp && first + r < data.rows(); ++r) {
    const T* in = data.row(first + r);
    for (int k = static_cast<int>(threadIdx.x % 32); k < cols; k += 32) {
      kept[r * layout.row + layout.at(k)] = in[k];
    }
  }
  __syncwarp();
}

/// How the elements of a row become those of the unit row.
struct unit_scaling {
  std::int64_t kind = constant_row;
  double scale = 0;
  double mean = 0;  // of the scaled row
  double mean_of_rest = 0;
  double rest_scale = 0;
  double length = 0;

  [[nodiscard]] __device__ double centred(double value) const {
    return value * scale - mean - mean_of_rest;
  }
  /// Before its division by the length.
  [[nodiscard]] __device__ double scaled(double value) const { return centred(value) * rest_scale; }

  /// That of the row of lane `source` of the warp.
  [[nodiscard]] __device__ unit_scaling of_lane(int source) const {
    return {.kind = __shfl_sync(~0U, static_cast<int>(kind), source),
            .scale = __shfl_sync(~0U, scale, source),
            .mean = __shfl_sync(~0U, mean, source),
            .mean_of_rest = __shfl_sync(~0U, mean_of_rest, source),
            .rest_scale = __shfl_sync(~0U, rest_scale, source),
            .length = __shfl_sync(~0U, length, source)};
  }
};

/// Looks through a row, of which the lane has the `count` elements at `mine`.
template <class T>
__device__ unit_scaling find_scaling(const row_lanes& group, const T* mine, int count, double first,
                                     int cols, detail::row_centre centre) {
  row_survey survey;
  for (int q = 0; q < count; ++q) survey.see(static_cast<double>(mine[q]), first);
  unit_scaling out;
  out.kind = survey.kind(group, centre);
  out.scale = out.kind == ordinary_row ? detail::power_of_two_scale(survey.largest) : 0;
  if (centre == detail::row_centre::mean) {
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

/// Writes one unit row from the row at `kept`. All lanes of the warp.
template <class T>
__device__ void store_row(const T* kept, const unit_scaling& scaling, const shared_rows& layout,
                          int cols, int segment, double* out) {
  for (int s = 0; s < lanes; ++s) {
    const int lane = segment_of_lane(s);  // its own inverse
    const int elements = elements_of_lane(cols, lane);
    const T* values = kept + lane * layout.pitch;
    for (int q = static_cast<int>(threadIdx.x % 32); q < segment; q += 32) {
      double value = 0;
      if (scaling.kind == ordinary_row && q < elements) {
        value = scaling.scaled(static_cast<double>(values[q])) / scaling.length;
      }
      out[s * segment + q] = value;
    }
  }
}

/// A warp reads, works on and writes its own rows.
template <class T>
__global__ void __launch_bounds__(most_rows_of_block* lanes)
    unit_rows_shared(device_matrix_view<const T> data, detail::row_centre centre, int segment,
                     double* out, std::int64_t* status) {
  extern __shared__ __align__(16) unsigned char shared[];
  const shared_rows layout(segment);
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
                             float2* out) {
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
  const index_t segment = unit_row_layout(data.cols()).segment;
  if (data.cols() < index_t{1} << 20) {
    const std::size_t row_bytes = static_cast<std::size_t>(shared_rows(segment).row) * sizeof(T);
    // Whole warps: at least four rows.
    if (row_bytes * 4 <= most_row_bytes) {
      const auto fitting = static_cast<int>(wanted_block_bytes / row_bytes / 4 * 4);
      const int rows =
          fitting < 4 ? 4 : (fitting > most_rows_of_block ? most_rows_of_block : fitting);
      allow_shared_memory(unit_rows_shared<T>, most_row_bytes);
      unit_rows_shared<T><<<grid_blocks(data.rows(), rows), rows * lanes,
                            row_bytes* static_cast<std::size_t>(rows), stream>>>(
          data, centre, static_cast<int>(segment), out, square_sums);
      GPU_SIMILARITY_CHECK_LAUNCH();
      return;
    }
  }
  unit_rows<T><<<grid_blocks(data.rows(), threads / lanes), threads, 0, stream>>>(
      data, centre, unit_row_layout(data.cols()).segment, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_split_floats(const double* unit, index_t rows, index_t unit_pitch, index_t columns,
                         float* out, cudaStream_t stream) {
  if (rows == 0) return;
  split_floats<<<grid_blocks(rows * columns, threads, 1 << 20), threads, 0, stream>>>(
      unit, rows, unit_pitch, columns, reinterpret_cast<float2*>(out));
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
