// Rows scaled to unit length and split into two halves.
//
// A block a row, which it reads twice: what the row is, its mean and its length; the halves.
// Lengths are sums around the first value, and once more around the mean where that lost too much.
// Doubles are scaled before they are squared, which takes two more passes. A thread takes groups of
// eight neighbours, and each sum has the order of threads and warps, the same at every call.

#include <cuda_fp16.h>

#include <type_traits>

#include "base/element_types.hpp"
#include "kernels/common/half_tile.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/prepare/half_rows.hpp"
#include "kernels/pairs/prepare/unit_rows.cuh"

namespace gpu::kernels {
namespace {

// Threads of a block, by the length of its row: so many that each has some groups of eight.
constexpr int short_threads = 128;
constexpr int long_threads = 512;
constexpr index_t most_short_columns = 4096;
constexpr int split_threads = 256;
constexpr int eight = 8;  // elements that a thread splits at a time
constexpr index_t groups_of_cell = half_cell_columns / eight;

struct alignas(16) eight_halves {
  __half value[eight];
};

/// Splits elements [8 group, 8 group + 8) of a row.
__device__ __forceinline__ void store_halves(const half_plane_rows& out, index_t row, index_t group,
                                             const float (&values)[eight]) {
  eight_halves high;
  eight_halves low;
#pragma unroll
  for (int i = 0; i < eight; ++i) {
    high.value[i] = __float2half_rn(values[i]);
    low.value[i] = __float2half_rn(values[i] - __half2float(high.value[i]));
  }
  const index_t cell = group / groups_of_cell;
  const auto in_cell = static_cast<int>(group % groups_of_cell);
  const auto in_group = static_cast<int>(row % 8);
  std::byte* const to = out.data + (cell * out.plane_rows + row) * half_cell_row_bytes;
  *reinterpret_cast<eight_halves*>(to + half_piece(in_cell, in_group)) = high;
  *reinterpret_cast<eight_halves*>(to + half_piece(in_cell + 4, in_group)) = low;
}

/// The sums, or the largest, of `count` values over the threads of a block. All threads; all get
/// them.
template <int threads, int count, class Join>
__device__ void join_block(double (&values)[count], const Join& join) {
  constexpr int warps = threads / 32;
  __shared__ double of_warp[count][warps];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    values[i] = warp_reduce(values[i], join);
    if (threadIdx.x % 32 == 0) of_warp[i][threadIdx.x / 32] = values[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < count; ++i) {
    values[i] = of_warp[i][0];
#pragma unroll
    for (int w = 1; w < warps; ++w) values[i] = join(values[i], of_warp[i][w]);
  }
  __syncthreads();
}
struct add {
  __device__ double operator()(double x, double y) const { return x + y; }
};
struct larger {
  __device__ double operator()(double x, double y) const { return x > y ? x : y; }
};

/// How an element of a row becomes one of the unit row: (x scale - mean - rest) rest_scale factor.
struct row_change {
  double scale = 1;  // other than 1 for doubles alone, whose squares may leave their range
  double mean = 0;
  double rest = 0;  // the mean of what is left
  double rest_scale = 1;
  double factor = 0;  // 0: the row has no statistic

  [[nodiscard]] __device__ double centred(double x) const { return x * scale - mean - rest; }
  [[nodiscard]] __device__ float operator()(double x) const {
    return static_cast<float>(centred(x) * rest_scale * factor);
  }
};

template <class T, int threads>
class half_row {
 public:
  __device__ half_row(const T* row, index_t cols) : row_(row), cols_(cols) {}

  /// What the row is, and how it is changed. All threads; all get both.
  __device__ std::int64_t survey(detail::row_centre centre, row_change& change) const {
    const double first = static_cast<double>(row_[0]);
    row_survey<> seen;
    double sums[2] = {};  // of x - first, and of its square
    for_each([&](double x) {
      seen.see(x, first);
      const double rest = x - first;
      sums[0] += rest;
      sums[1] = fma(rest, rest, sums[1]);
    });
    double largest[1] = {seen.largest};
    join_block<threads>(largest, larger());
    const bool any_nan = __syncthreads_or(static_cast<int>(seen.nan)) != 0;
    const bool any_varies = __syncthreads_or(static_cast<int>(seen.varies)) != 0;
    if (any_nan) return nan_row;
    if (!(largest[0] <= 1.7976931348623157e308)) return infinite_row;
    const bool centres = detail::is_centred(centre);
    if (centres ? !any_varies : largest[0] == 0) return constant_row;
    const double columns = static_cast<double>(cols_);
    if constexpr (std::is_same_v<T, double>) {
      change.scale = detail::power_of_two_scale(largest[0]);
      double sum[1] = {};
      for_each([&](double x) { sum[0] += x * change.scale; });
      join_block<threads>(sum, add());
      if (centres) change.mean = sum[0] / columns;
      return measure(centres, columns, change);
    }
    join_block<threads>(sums, add());
    if (!centres) return measure(centres, columns, change);
    change.mean = first + sums[0] / columns;
    const double square = sums[1] - sums[0] * sums[0] / columns;
    if (!(square > least_left * sums[1])) return measure(centres, columns, change);
    change.factor = half_scale / sqrt(square);
    return ordinary_row;
  }
  __device__ void write(const half_plane_rows& out, index_t number,
                        const row_change& change) const {
    const index_t groups = policy::half_cells(cols_) * groups_of_cell;
    for (index_t group = threadIdx.x; group < groups; group += threads) {
      const index_t k = group * eight;
      float values[eight] = {};
      if (change.factor == 0) {
        // Zeros: the row has no statistic.
      } else if (k + eight <= cols_) {
        const loaded these = load(k);
#pragma unroll
        for (int i = 0; i < eight; ++i) values[i] = change(static_cast<double>(these.value[i]));
      } else {
#pragma unroll
        for (int i = 0; i < eight; ++i) {
          if (k + i < cols_) values[i] = change(static_cast<double>(row_[k + i]));
        }
      }
      store_halves(out, number, group, values);
    }
  }

 private:
  struct alignas(sizeof(T) == 1 ? 8 : 16) loaded {
    T value[eight];
  };
  // What may be left of a sum of squares around the first value: its error is then below 1e-9.
  static constexpr double least_left = 1e-6;

  template <class See>
  __device__ void for_each(const See& see) const {
    const index_t whole = cols_ / eight;
#pragma unroll 2
    for (index_t group = threadIdx.x; group < whole; group += threads) {
      const loaded these = load(group * eight);
#pragma unroll
      for (int i = 0; i < eight; ++i) see(static_cast<double>(these.value[i]));
    }
    const index_t k = whole * eight + threadIdx.x;
    if (k < cols_) see(static_cast<double>(row_[k]));
  }
  // The length of what is left behind the mean.
  __device__ std::int64_t measure(bool centres, double columns, row_change& change) const {
    double sums[2] = {};
    double rest[1] = {};
    for_each([&](double x) {
      const double left = x * change.scale - change.mean;
      sums[0] += left;
      sums[1] = fma(left, left, sums[1]);
      rest[0] = fabs(left) > rest[0] ? fabs(left) : rest[0];
    });
    join_block<threads>(sums, add());
    join_block<threads>(rest, larger());
    if (centres) change.rest = sums[0] / columns;
    double square = sums[1] - columns * change.rest * change.rest;
    if constexpr (std::is_same_v<T, double>) {
      if (rest[0] == 0) return constant_row;
      change.rest_scale = detail::power_of_two_scale(rest[0]);
      double squares[1] = {};
      for_each([&](double x) {
        const double left = change.centred(x) * change.rest_scale;
        squares[0] = fma(left, left, squares[0]);
      });
      join_block<threads>(squares, add());
      square = squares[0];
    }
    if (!(square > 0)) return constant_row;
    change.factor = half_scale / sqrt(square);
    return ordinary_row;
  }
  __device__ loaded load(index_t k) const {
    if (reinterpret_cast<std::size_t>(row_ + k) % alignof(loaded) == 0) {
      return *reinterpret_cast<const loaded*>(row_ + k);
    }
    loaded out;
#pragma unroll
    for (int i = 0; i < eight; ++i) out.value[i] = row_[k + i];
    return out;
  }

  const T* row_;
  index_t cols_;
};

template <class T, int threads>
__global__ void __launch_bounds__(threads)
    half_rows(device_matrix_view<const T> data, detail::row_centre centre, half_plane_rows out,
              index_t first, std::int64_t* status) {
  const index_t number = blockIdx.x;
  const half_row<T, threads> row(data.row(number), data.cols());
  row_change change;
  const std::int64_t kind = row.survey(centre, change);
  if (threadIdx.x == 0) status[number] = kind;
  row.write(out, first + number, change);
}

// A thread takes an element of each of the eight segments of a unit row: neighbours of the row.
__global__ void __launch_bounds__(split_threads)
    split_halves(const double* unit_rows, index_t pitch, index_t cols, half_plane_rows out) {
  const index_t row = blockIdx.x;
  const index_t segment = pitch / unit_lanes;
  const double* const from = unit_rows + row * pitch;
  const index_t groups = policy::half_cells(cols) * groups_of_cell;
  for (index_t group = threadIdx.x; group < groups; group += split_threads) {
    float values[eight] = {};
    if (group < segment) {
#pragma unroll
      for (int i = 0; i < eight; ++i) {
        values[i] = static_cast<float>(from[segment_of_lane(i) * segment + group] * half_scale);
      }
    }
    store_halves(out, row, group, values);
  }
}

}  // namespace

template <class T>
void launch_half_rows(device_matrix_view<const T> data, detail::row_centre centre,
                      const half_plane_rows& out, index_t first, std::int64_t* square_sums,
                      cudaStream_t stream) {
  if (data.rows() == 0) return;
  const unsigned blocks = grid_blocks(data.rows(), 1);
  if (data.cols() <= most_short_columns) {
    half_rows<T, short_threads>
        <<<blocks, short_threads, 0, stream>>>(data, centre, out, first, square_sums);
  } else {
    half_rows<T, long_threads>
        <<<blocks, long_threads, 0, stream>>>(data, centre, out, first, square_sums);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                \
  template void launch_half_rows<T>(device_matrix_view<const T>, detail::row_centre, \
                                    const half_plane_rows&, index_t, std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

void launch_split_halves(const double* unit_rows, index_t rows, index_t cols,
                         const half_plane_rows& out, cudaStream_t stream) {
  if (rows == 0) return;
  split_halves<<<grid_blocks(rows, 1), split_threads, 0, stream>>>(
      unit_rows, unit_row_layout(cols).pitch(), cols, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_clear_half_rows(const half_plane_rows& out, index_t rows, index_t cols,
                            cudaStream_t stream) {
  if (rows >= out.plane_rows) return;
  const auto pitch = static_cast<std::size_t>(out.plane_rows) * half_cell_row_bytes;
  const auto width = static_cast<std::size_t>(out.plane_rows - rows) * half_cell_row_bytes;
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemset2DAsync(out.data + rows * half_cell_row_bytes, pitch, 0, width,
                        static_cast<std::size_t>(policy::half_cells(cols)), stream));
}

}  // namespace gpu::kernels
