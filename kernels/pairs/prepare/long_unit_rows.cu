// Unit rows of long rows, in the order of sums of stats/unit_rows.hpp.
//
// Of many rows each has a block (long_row.cuh), which reads it once for each pass, from L2 after
// the first. Few rows would leave the device idle, so each slice of theirs has a block: a kernel a
// pass, and the block that ends last adds up what those of its row have found. Compiled with
// -fmad=false.
//
// The survey finds the least and the greatest value. The steps up to the length are monotonous, so
// these two also say what the largest magnitude is after each of them.

#include <bit>
#include <limits>
#include <type_traits>

#include "base/element_types.hpp"
#include "base/ordered_key.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/long_row.cuh"
#include "kernels/pairs/prepare/long_unit_rows.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = long_row_threads;

/// What a row has.
struct value_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool nan = false;

  __device__ void see(double value) {
    nan |= value != value;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  /// That of all threads of the block. All of them call it.
  [[nodiscard]] __device__ value_range of_block() const {
    return {-largest_of_block(-low), largest_of_block(high), __syncthreads_or(nan) != 0};
  }
  [[nodiscard]] __device__ std::int64_t kind(detail::row_centre centre) const {
    if (nan) return nan_row;
    if (!(largest() <= 1.7976931348623157e308)) return infinite_row;
    const bool constant = detail::is_centred(centre) ? low == high : largest() == 0;
    return constant ? constant_row : ordinary_row;
  }
  [[nodiscard]] __device__ double largest() const { return fmax(fabs(low), fabs(high)); }
};

/// What a range says of a row whose means are to come.
__device__ unit_scaling begin_scaling(const value_range& range, detail::row_centre centre) {
  unit_scaling to;
  to.kind = range.kind(centre);
  if (to.kind == ordinary_row) to.scale = detail::power_of_two_scale(range.largest());
  return to;
}

/// Sets rest_scale once the means are there, or finds that nothing is left.
__device__ void scale_rest(const value_range& range, unit_scaling& to) {
  const double rest = fmax(fabs(to.centred(range.low)), fabs(to.centred(range.high)));
  if (rest == 0) {
    to.kind = constant_row;
  } else {
    to.rest_scale = detail::power_of_two_scale(rest);
  }
}

__device__ double unit_value(const unit_scaling& to, double value) {
  return to.kind == ordinary_row ? to.scaled(value) / to.length : 0.0;
}

// ---- a block a row ----------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(threads)
    long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, index_t segment,
                   double* out, std::int64_t* status) {
  __shared__ __align__(16) double buffers[long_row<T>::buffer_elements];
  const index_t number = blockIdx.x;
  const long_row<T> row(data.row(number), data.cols(), buffers);
  value_range range;
  row.for_each([&](double value) { range.see(value); });
  range = range.of_block();
  unit_scaling to = begin_scaling(range, centre);
  if (to.kind == ordinary_row) {
    const double columns = static_cast<double>(data.cols());
    const auto centred = [&](double value) { return to.centred(value); };
    if (detail::is_centred(centre)) {
      const double mean = row.template sum<false>(centred) / columns;
      to.mean = mean;
      const double mean_of_rest = row.template sum<false>(centred) / columns;
      to.mean_of_rest = mean_of_rest;
    }
    scale_rest(range, to);
    if (to.kind == ordinary_row) {
      to.length = sqrt(row.template sum<true>([&](double value) { return to.scaled(value); }));
    }
  }
  if (threadIdx.x == 0) status[number] = to.kind;
  row.write(segment, out + number * unit_lanes * segment,
            [&](double value) { return unit_value(to, value); });
}

// ---- a block a slice --------------------------------------------------------------------------

constexpr int slice_columns = static_cast<int>(detail::slice_columns);

/// What the blocks of a row share. Zeros at first.
struct shared_row {
  unsigned long long highest;   // the key of the greatest value; NaN is above all
  unsigned long long lowest;    // the complement of the bits of the least
  unsigned long long smallest;  // the complement of the bits of the least magnitude above 0
  unsigned done;                // blocks of this pass
  bool is_summed;               // whether the survey has found the mean
  unit_scaling to;

  [[nodiscard]] __device__ value_range range() const {
    return {detail::value_of_key<double>(~lowest), detail::value_of_key<double>(highest),
            highest == detail::nan_key<double>};
  }
};

/// Whether the sum of values of type T, times the scale, is the sum of the scaled values to the
/// bit: neither the values nor a sum of them overflow or underflow before or after.
template <class T>
__device__ bool scales_sums(double smallest, double largest, double scale) {
  if constexpr (!std::is_same_v<T, double>) return true;
  return smallest * scale >= 0x1p-900 && largest <= 0x1p+900;
}

/// Slices of few rows: block (s, r) has slice s of row r, or several from there on.
template <class T>
struct sliced_rows {
  device_matrix_view<const T> data;
  detail::row_centre centre;
  int slices;  // of a row
  shared_row* rows;
  double* partial;  // [rows, slices, 8]
  // Every other pass begins with what the one before has read last, and left in L2.
  bool backwards = false;

  /// The row of this block, and the first slice or the first of the groups of slices.
  [[nodiscard]] __device__ index_t number() const {
    return backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y;
  }
  [[nodiscard]] __device__ index_t group() const {
    return backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  }
  [[nodiscard]] __device__ shared_row& row() const { return rows[number()]; }
  [[nodiscard]] __device__ double* partial_of(index_t slice) const {
    return partial + (number() * slices + slice) * unit_lanes;
  }
  /// Calls take(k, value) for the elements of the slice of this thread, k from 0 on.
  template <class Take>
  __device__ void for_each(const Take& take) const {
    const index_t first = group() * slice_columns;
    const T* const from = data.row(number()) + first;
    const auto count = static_cast<int>(min(data.cols() - first, index_t{slice_columns}));
#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) {
      take(k, static_cast<double>(from[k]));
    }
  }
  /// Whether all other blocks of the row have ended the pass: what they wrote can be read. All
  /// threads; at most one block is told so.
  [[nodiscard]] __device__ bool is_last() const {
    __threadfence();
    __syncthreads();  // all of them have written
    if (__syncthreads_or(threadIdx.x == 0 && atomicAdd(&row().done, 1U) + 1 == gridDim.x) == 0) {
      return false;
    }
    if (threadIdx.x == 0) row().done = 0;
    __threadfence();
    return true;
  }
};

/// The passes over a row. The survey finds the mean, too, except where it has to be added up from
/// scaled values.
enum class slice_pass { survey, mean, mean_of_rest, length };

// Many slices are read by eight lanes each, as they stand; few, a block each, which brings its
// slice to shared memory first: eight lanes alone would wait for each load.
constexpr index_t least_read_slices = 8192;
constexpr int read_at_once = threads / unit_lanes;

/// One pass over each row, its sum, and what follows from it.
template <slice_pass which, bool reads, class T>
__global__ void __launch_bounds__(threads)
    add_up_slices(const __grid_constant__ sliced_rows<T> in, std::int64_t* status) {
  constexpr bool surveys = which == slice_pass::survey;
  constexpr bool squares = which == slice_pass::length;
  constexpr int of_lane = slice_columns / unit_lanes;
  constexpr int pitch = of_lane + 2;  // neither stores nor pairs of loads meet in a bank
  __shared__ __align__(16) double values[unit_lanes * pitch];
  const unit_scaling to = in.row().to;
  if (!surveys && to.kind != ordinary_row) return;
  if (which == slice_pass::mean && in.row().is_summed) return;
  const bool is_summed = !surveys || detail::is_centred(in.centre);
  const int thread = static_cast<int>(threadIdx.x);
  const auto add = [](double sum, double x) { return squares ? fma(x, x, sum) : sum + x; };
  value_range range;
  double smallest = std::numeric_limits<double>::infinity();
  const auto of = [&](double value) {
    if constexpr (surveys) {
      range.see(value);
      if (std::is_same_v<T, double> && value != 0) smallest = fmin(smallest, fabs(value));
      return value;
    }
    return squares ? to.scaled(value) : to.centred(value);
  };
  if constexpr (reads) {
    const index_t slice = in.group() * read_at_once + thread / unit_lanes;
    const int lane = thread % unit_lanes;
    if (slice < in.slices) {
      const index_t first = slice * slice_columns;
      const T* const from = in.data.row(in.number()) + first + lane;
      const auto count = static_cast<int>(
          elements_of_lane(min(in.data.cols() - first, index_t{slice_columns}), lane));
      double sum = 0;
#pragma unroll 16
      for (int q = 0; q < count; ++q) {
        sum = add(sum, of(static_cast<double>(from[q * unit_lanes])));
      }
      in.partial_of(slice)[lane] = sum;
    }
  } else {
    if (in.group() + 1 == gridDim.x) {  // zeros behind the row change no sum
      for (int k = thread; k < unit_lanes * pitch; k += threads) values[k] = 0;
      __syncthreads();
    }
    in.for_each(
        [&](int k, double value) { values[k % unit_lanes * pitch + k / unit_lanes] = of(value); });
    __syncthreads();
    if (is_summed && thread < unit_lanes) {
      const auto* const pairs = reinterpret_cast<const double2*>(values + thread * pitch);
      double sum = 0;
#pragma unroll 16
      for (int k = 0; k < of_lane / 2; ++k) sum = add(add(sum, pairs[k].x), pairs[k].y);
      in.partial_of(in.group())[thread] = sum;
    }
  }
  if constexpr (surveys) {
    range = range.of_block();
    smallest = -largest_of_block(-smallest);
    if (thread == 0) {
      atomicMax(&in.row().highest,
                range.nan ? detail::nan_key<double> : detail::ordered_key(range.high));
      atomicMax(&in.row().lowest, ~detail::ordered_key(range.low));
      atomicMax(&in.row().smallest, ~std::bit_cast<unsigned long long>(smallest));
    }
  }
  if (!in.is_last()) return;
  // The slices one after the other, as many at a time as there is room for.
  constexpr int at_once = pitch;
  double sum = 0;
  for (int first = 0; is_summed && first < in.slices; first += at_once) {
    const int count = min(in.slices - first, at_once);
    const double* const from = in.partial_of(first);
#pragma unroll 8
    for (int k = thread; k < count * unit_lanes; k += threads) values[k] = __ldcg(from + k);
    __syncthreads();
    if (thread < unit_lanes) {
      sum = first == 0 ? values[thread] : sum + values[thread];
#pragma unroll 16
      for (int s = 1; s < count; ++s) sum += values[s * unit_lanes + thread];
    }
    __syncthreads();
  }
  if (thread >= unit_lanes) return;
  sum = row_lanes().sum(sum);
  if (thread != 0) return;
  shared_row& row = in.row();
  const double columns = static_cast<double>(in.data.cols());
  unit_scaling next = to;
  if constexpr (surveys) {
    shared_row seen = {};
    seen.highest = __ldcg(&row.highest);
    seen.lowest = __ldcg(&row.lowest);
    const value_range all = seen.range();
    const double least = std::bit_cast<double>(~__ldcg(&row.smallest));
    next = begin_scaling(all, in.centre);
    row.is_summed = scales_sums<T>(least, all.largest(), next.scale);
    if (next.kind == ordinary_row && !is_summed) scale_rest(all, next);
    if (next.kind == ordinary_row && is_summed && row.is_summed) {
      next.mean = sum * next.scale / columns;
    }
  } else if constexpr (which == slice_pass::mean) {
    next.mean = sum / columns;
  } else if constexpr (which == slice_pass::mean_of_rest) {
    next.mean_of_rest = sum / columns;
    scale_rest(row.range(), next);
  } else {
    next.length = sqrt(sum);
  }
  row.to = next;
  status[in.number()] = next.kind;
}

/// a / b where `inverse` is 1 / b rounded: a quotient within an ulp and its exact remainder give
/// the rounded one (Markstein), in an eighth of the time of a division.
__device__ double divide(double a, double b, double inverse) {
  if (!(fabs(a) >= 0x1p-900)) return a / b;  // remainders would underflow
  double quotient = a * inverse;
  quotient = fma(fma(-b, quotient, a), inverse, quotient);
  return fma(fma(-b, quotient, a), inverse, quotient);
}

// A thread writes four elements of a lane at a time, so that a warp writes whole lines.
template <class T>
__global__ void __launch_bounds__(threads)
    write_slices(const __grid_constant__ sliced_rows<T> in, index_t segment, double* out) {
  constexpr int at_a_time = 4;
  constexpr int of_lane = slice_columns / unit_lanes;
  constexpr int step = threads / unit_lanes * at_a_time;
  const unit_scaling to = in.row().to;
  const double inverse = 1 / to.length;
  const int lane = static_cast<int>(threadIdx.x) % unit_lanes;
  const index_t first = in.group() * of_lane;
  const auto end = static_cast<int>(min(segment - first, index_t{of_lane}));
  const index_t cols = in.data.cols();
  const T* const from = in.data.row(in.number()) + lane;
  double* const row = out + (in.number() * unit_lanes + segment_of_lane(lane)) * segment + first;
#pragma unroll 2
  for (int q = static_cast<int>(threadIdx.x) / unit_lanes * at_a_time; q < end; q += step) {
    double values[at_a_time];
#pragma unroll
    for (int i = 0; i < at_a_time; ++i) {
      const index_t k = (first + q + i) * unit_lanes;
      const bool there = k + lane < cols && to.kind == ordinary_row;
      values[i] = there ? divide(to.scaled(static_cast<double>(from[k])), to.length, inverse) : 0.0;
    }
#pragma unroll
    for (int i = 0; i < at_a_time; i += 2) {  // segments are even
      if (q + i < end) *reinterpret_cast<double2*>(row + q + i) = {values[i], values[i + 1]};
    }
  }
}

// Rows that have blocks for their slices.
index_t most_sliced_rows() {
  return index_t{4} * cuda::current_limits().multiprocessors;
}

template <bool reads, class T>
void launch_passes(sliced_rows<T>& in, std::int64_t* status, cudaStream_t stream) {
  const dim3 blocks(grid_blocks(in.slices, reads ? read_at_once : 1),
                    static_cast<unsigned>(in.data.rows()));
  const auto pass = [&]<slice_pass which>() {
    add_up_slices<which, reads><<<blocks, threads, 0, stream>>>(in, status);
    if (which != slice_pass::mean) in.backwards = !in.backwards;  // which seldom reads
  };
  pass.template operator()<slice_pass::survey>();
  if (detail::is_centred(in.centre)) {
    if constexpr (std::is_same_v<T, double>) pass.template operator()<slice_pass::mean>();
    pass.template operator()<slice_pass::mean_of_rest>();
  }
  pass.template operator()<slice_pass::length>();
}

template <class T>
void launch_slices(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                   std::int64_t* status, cudaStream_t stream) {
  const index_t slices = ceil_div(data.cols(), detail::slice_columns);
  const auto rows = cuda::zeroed<shared_row>(static_cast<std::size_t>(data.rows()), stream);
  const cuda::device_buffer<double> partial(
      static_cast<std::size_t>(data.rows() * slices * unit_lanes), stream);
  sliced_rows<T> in{data, centre, static_cast<int>(slices), rows.data(), partial.data()};
  const dim3 blocks(static_cast<unsigned>(slices), static_cast<unsigned>(data.rows()));
  if (data.rows() * slices < least_read_slices) {
    launch_passes<false>(in, status, stream);
  } else {
    launch_passes<true>(in, status, stream);
  }
  write_slices<T><<<blocks, threads, 0, stream>>>(in, unit_row_layout(data.cols()).segment, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void launch_long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                           std::int64_t* square_sums, cudaStream_t stream) {
  if (data.rows() == 0) return;
  if (data.cols() > detail::most_whole_columns && data.rows() <= most_sliced_rows()) {
    return launch_slices<T>(data, centre, out, square_sums, stream);
  }
  long_unit_rows<T><<<grid_blocks(data.rows(), 1), threads, 0, stream>>>(
      data, centre, unit_row_layout(data.cols()).segment, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template void launch_long_unit_rows<T>(device_matrix_view<const T>, detail::row_centre, double*, \
                                         std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
