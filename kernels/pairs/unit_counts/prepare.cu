// What the unit count needs of the rows: them in packed form, the margin of their products, and
// them in single precision.

#include <cuda_fp16.h>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/neighbors/packing.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr unsigned short half_nan = 0x7fff;
// Added to the error of the products: covers the roundings of the comparison in single precision.
constexpr double comparison_error = 2e-6;

// The two halves that a corrected row keeps of an element, and what rounding takes from each.
struct corrected_element {
  __half value;
  __half correction;
  double lost;
  double lost_of_correction;
};

constexpr double corrected_norm = 1 + unit_correction * unit_correction;  // c of kernels.hpp

__device__ __forceinline__ corrected_element correct(double element) {
  corrected_element out;
  const double scaled = element * (1 / sqrt(corrected_norm));
  out.value = __double2half(scaled);
  const double rounded = __half2float(out.value);
  out.lost = scaled - rounded;
  const double wanted = unit_correction * rounded + corrected_norm / unit_correction * out.lost;
  out.correction = __double2half(wanted);
  out.lost_of_correction = wanted - static_cast<double>(__half2float(out.correction));
  return out;
}

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
      const corrected_element element = correct(valid && k < source.unit_pitch ? unit[k] : 0.0);
      values[b] = valid ? element.value : __ushort_as_half(half_nan);
      corrections[b] = valid ? element.correction : __ushort_as_half(half_nan);
    }
    *reinterpret_cast<uint4*>(out + piece * 128) = *reinterpret_cast<const uint4*>(values);
    *reinterpret_cast<uint4*>(out + (pieces + piece) * 128) =
        *reinterpret_cast<const uint4*>(corrections);
  }
}

// Raises *largest to the largest length of the warp's lanes, of which `squares` are the squares.
__device__ __forceinline__ void raise(float* largest, double squares) {
  float length = static_cast<float>(sqrt(squares) * (1 + 1e-6));
  for (int step = 16; step > 0; step /= 2) {
    length = fmaxf(length, __shfl_xor_sync(~0U, length, step));
  }
  // Floats that are not negative are in the order of their bits.
  if (threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned*>(largest), __float_as_uint(length));
  }
}

// One thread looks at one row.
__global__ void rounding_kernel(pair_operand source, bool corrected, unit_cut* cut) {
  const index_t row = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  double lost = 0;
  double lost_of_correction = 0;
  if (row < source.count && source.square_sums[row] > 0) {
    const double* unit = source.unit_rows + row * source.unit_pitch;
    for (index_t k = 0; k < source.unit_pitch; ++k) {
      if (corrected) {
        const corrected_element element = correct(unit[k]);
        lost += element.lost * element.lost;
        lost_of_correction += element.lost_of_correction * element.lost_of_correction;
      } else {
        const double rest = unit[k] - static_cast<double>(__half2float(__double2half(unit[k])));
        lost += rest * rest;
      }
    }
  }
  raise(&cut->largest_rest, lost);
  if (corrected) raise(&cut->largest_rest_of_correction, lost_of_correction);
}

// Largest error of a product of rows as they are packed, were its sum exact. By Cauchy and Schwarz:
// a row is its rounded form plus a rest of length at most e, so a product of rounded rows is off by
// at most 2 e + e^2. For corrected rows see kernels.hpp.
__device__ double packing_error(const unit_cut& cut, bool corrected) {
  const double e = cut.largest_rest;
  if (!corrected) return 2 * e + e * e;
  constexpr double factor = corrected_norm / unit_correction;  // of the rest in a correction
  const double r = cut.largest_rest_of_correction;
  const double length = unit_correction * (1 + e) + factor * e;  // of a correction, at most
  return factor / unit_correction * e * e + 2 * length * r + r * r;
}

// One thread.
__global__ void cut_kernel(detail::keep_range keep, index_t elements, bool corrected,
                           unit_cut* cut) {
  const index_t summed = corrected ? 2 * 32 : elements;
  const double error = packing_error(*cut, corrected) + unit_sum_error(summed) + comparison_error;
  cut->estimate = estimate_cut(keep, error);
  cut->of_floats = estimate_cut(keep, unit_float_error(elements) + comparison_error);
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
  const bool corrected = unit_rows_are_corrected(source.unit_pitch);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(cut, 0, sizeof *cut, stream));
  if (source.count > 0) {
    rounding_kernel<<<grid_blocks(source.count, threads), threads, 0, stream>>>(source, corrected,
                                                                                cut);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
  cut_kernel<<<1, 1, 0, stream>>>(keep, source.unit_pitch, corrected, cut);
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
