// What the unit count needs of the rows: them in packed form, the margin of their products, and
// them in single precision.

#include <cuda_fp16.h>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/neighbors/packing.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// Added to the error of the products: covers the roundings of the comparison in single precision.
constexpr double comparison_error = 2e-6;

constexpr double corrected_norm = 1 + unit_correction * unit_correction;  // c of kernels.hpp
constexpr double rest_factor = corrected_norm / unit_correction;          // c / a

/// Largest error of a product of corrected rows, divided by s^2, were there no roundings of sums.
/// Rounding takes at most 2^-11 of each element that is not subnormal, and from those that are less
/// than what is added here.
constexpr double unit_corrected_error() {
  constexpr double half_error = 0x1p-11;
  constexpr double subnormal = 1e-7;
  constexpr double rest = half_error + subnormal;  // of rows of length 1 / sqrt(c), so at most
  constexpr double correction = unit_correction * (1 + rest) + rest_factor * rest;  // its length
  constexpr double rest_of_correction = half_error * correction + subnormal;
  return rest_factor / unit_correction * rest * rest + 2 * correction * rest_of_correction +
         rest_of_correction * rest_of_correction;
}
constexpr double corrected_margin = 1 / (unit_corrected_scale * unit_corrected_scale);
static_assert(unit_corrected_error() + unit_sum_error(2 * unit_corrected_elements) +
                  comparison_error <=
              corrected_margin);

// One thread packs one row: eight elements at a time, so that eight threads write 128 consecutive
// bytes.
__global__ void pack_corrected_kernel(pair_operand source, neighbor_rows packed) {
  const index_t position = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (position >= packed.padded_rows) return;
  const index_t place = neighbor_row_at(position);
  const index_t row = packed.first + place;
  const bool valid = place < packed.rows && source.square_sums[row] > 0;
  const double* unit = source.unit_rows + row * source.unit_pitch;
  std::uint8_t* out = packed.tiles + neighbor_offset(position, packed.depth);
  const int pieces = packed.depth / 32;  // of the values; as many corrections follow
  for (int piece = 0; piece < pieces; ++piece) {
    alignas(16) __half values[8];
    alignas(16) __half corrections[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const int k = piece * 8 + b;
      const double element = valid && k < source.unit_pitch
                                 ? unit[k] * (unit_corrected_scale / sqrt(corrected_norm))
                                 : 0.0;
      const __half value = __double2half(element);
      const double rounded = __half2float(value);
      const double correction = unit_correction * rounded + rest_factor * (element - rounded);
      values[b] = valid ? value : __ushort_as_half(half_nan);
      corrections[b] = valid ? __double2half(correction) : __ushort_as_half(half_nan);
    }
    *reinterpret_cast<uint4*>(out + piece * 128) = *reinterpret_cast<const uint4*>(values);
    *reinterpret_cast<uint4*>(out + (pieces + piece) * 128) =
        *reinterpret_cast<const uint4*>(corrections);
  }
}

// One thread looks at one row.
__global__ void rounding_kernel(pair_operand source, float* largest) {
  const index_t row = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  double lost = 0;
  if (row < source.count && source.square_sums[row] > 0) {
    const double* unit = source.unit_rows + row * source.unit_pitch;
    for (index_t k = 0; k < source.unit_pitch; ++k) {
      const double rest = unit[k] - static_cast<double>(__half2float(__double2half(unit[k])));
      lost += rest * rest;
    }
  }
  const float error = warp_max(static_cast<float>(sqrt(lost) * (1 + 1e-6)));
  // Floats that are not negative are in the order of their bits.
  if (threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned*>(largest), __float_as_uint(error));
  }
}

// One thread. A row is its rounded form plus a rest of length at most e, so the product of two rows
// differs from that of their rounded forms by at most 2 e + e^2.
__global__ void cut_kernel(detail::keep_range keep, index_t elements, unit_cut* cut) {
  const double rest = cut->largest_rest;
  const double error = 2 * rest + rest * rest + unit_sum_error(elements) + comparison_error;
  cut->estimate = estimate_cut(keep, error);
  cut->of_floats = estimate_cut(keep, unit_float_error(elements) + comparison_error);
}

// One thread.
__global__ void corrected_cut_kernel(detail::keep_range keep, unit_cut* cut) {
  constexpr double scale = unit_corrected_scale * unit_corrected_scale;
  cut_estimate estimate = estimate_cut(keep, corrected_margin);
  for (float* value : {&estimate.middle, &estimate.possible, &estimate.certain}) {
    *value = static_cast<float>(*value * scale);
  }
  cut->estimate = estimate;
}

// One thread for each element of the padded rows.
__global__ void floats_kernel(pair_operand source, float* out) {
  const index_t pitch = unit_float_pitch(source.unit_pitch);
  const index_t end = source.count * pitch;
  for (index_t at = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; at < end;
       at += static_cast<index_t>(gridDim.x) * threads) {
    const index_t row = at / pitch;
    const index_t k = at % pitch;
    out[at] = k < source.unit_pitch
                  ? static_cast<float>(source.unit_rows[row * source.unit_pitch + k])
                  : 0.0F;
  }
}

}  // namespace

void launch_unit_pack(const pair_operand& source, const neighbor_rows& packed,
                      cudaStream_t stream) {
  if (!unit_rows_are_corrected(source.unit_pitch)) {
    launch_neighbor_pack(source, packed, stream);
    return;
  }
  if (packed.padded_rows == 0) return;
  pack_corrected_kernel<<<grid_blocks(packed.padded_rows, threads), threads, 0, stream>>>(source,
                                                                                          packed);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_unit_cut(const pair_operand& source, const detail::keep_range& keep, unit_cut* cut,
                     cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(cut, 0, sizeof *cut, stream));
  if (unit_rows_are_corrected(source.unit_pitch)) {
    corrected_cut_kernel<<<1, 1, 0, stream>>>(keep, cut);
    GPU_SIMILARITY_CHECK_LAUNCH();
    return;
  }
  if (source.count > 0) {
    rounding_kernel<<<grid_blocks(source.count, threads), threads, 0, stream>>>(source,
                                                                                &cut->largest_rest);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
  cut_kernel<<<1, 1, 0, stream>>>(keep, source.unit_pitch, cut);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_unit_floats(const pair_operand& source, float* out, cudaStream_t stream) {
  constexpr index_t most_blocks = index_t{1} << 16;
  if (source.count == 0) return;
  floats_kernel<<<grid_blocks(source.count * unit_float_pitch(source.unit_pitch), threads,
                              most_blocks),
                  threads, 0, stream>>>(source, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
