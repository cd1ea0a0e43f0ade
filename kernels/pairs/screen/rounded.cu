// Rows rounded to 8 bits for the pair screen: how much each row loses by that, packing, and the
// exact test of the candidates.
//
// A row x of unit length is x = q / s + r with q = round(s x), s = 127 / max |x|, e = |r|. By
// Cauchy and Schwarz |x y - (q_x q_y) / (s_x s_y)| <= e_x + e_y + e_x e_y. Here s and e are
// computed in double; 1e-6 of each covers their rounding and that of the thresholds made from them
// in float.

#include <cub/device/device_radix_sort.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/prepare/row_sort.cuh"
#include "kernels/pairs/screen/found.cuh"
#include "plan/pair_policy.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr double largest_rounded = 127;

/// Values of one row, of either kind, as doubles.
struct unit_row_values {
  const double* row;
  __device__ unit_row_values(const screen_source& source, index_t i)
      : row(source.unit_rows + i * source.pitch) {}
  __device__ double operator()(index_t k) const { return row[k]; }
};
struct rank_row_values {
  const std::int8_t* row;
  index_t pitch;
  int limbs;
  __device__ rank_row_values(const screen_source& source, index_t i)
      : row(source.limbs + i * source.limb_count * source.pitch),
        pitch(source.pitch),
        limbs(source.limb_count) {}
  __device__ double operator()(index_t k) const {
    int value = row[(limbs - 1) * pitch + k];
    for (int l = limbs - 2; l >= 0; --l) {
      value = value * (1 << policy::limb_bits) + row[l * pitch + k];
    }
    return value;
  }
};

// One value of all threads of a row by combine(a, b): `workers` is 32, a warp, or a whole block.
template <int workers, class Combine>
__device__ double over_workers(double value, const Combine& combine) {
  value = warp_reduce(value, combine);
  if constexpr (workers > 32) {
    __shared__ double of_warp[warps];
    __syncthreads();  // what was there has been read
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (int w = 1; w < warps; ++w) value = combine(value, of_warp[w]);
  }
  return value;
}

// A warp a row, or a block.
template <class Values, int workers>
__global__ void measure_kernel(screen_source source, row_rounding* rounding) {
  const index_t i = (static_cast<index_t>(blockIdx.x) * threads + threadIdx.x) / workers;
  if (i >= source.rows) return;
  const unsigned lane = threadIdx.x % workers;
  const std::int64_t squares = source.square_sums[i];
  const Values values(source, i);
  row_rounding out{0.0F, 0.0F, 0.0};
  if (squares > 0) {
    double most = 0;
    for (index_t k = lane; k < source.pitch; k += workers) most = fmax(most, fabs(values(k)));
    most = over_workers<workers>(most, [](double a, double b) { return fmax(a, b); });
    out.factor = largest_rounded / most;
    double lost = 0;
    for (index_t k = lane; k < source.pitch; k += workers) {
      const double value = values(k) * out.factor;
      const double rest = value - rint(value);
      lost += rest * rest;
    }
    lost = over_workers<workers>(lost, [](double a, double b) { return a + b; });
    const double length = source.unit_rows != nullptr ? 1.0 : sqrt(static_cast<double>(squares));
    out.scale = static_cast<float>(out.factor * length * (1 - threshold_slack));
    out.error =
        static_cast<float>(sqrt(lost) / (out.factor * length) * (1 + threshold_slack) + 1e-9);
  }
  if (lane == 0) rounding[i] = out;
}

__global__ void scale_keys_kernel(const row_rounding* rounding, index_t rows, const row_sides sides,
                                  std::uint32_t* keys, std::uint32_t* numbers) {
  constexpr std::uint32_t right_bit = 0x80000000U;
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= rows) return;
  // Positive floats are in the order of their bits; 0 is that of a row without a statistic.
  const std::uint32_t none = sides.keeps_invalid ? 1 : 0;
  std::uint32_t key = max(__float_as_uint(rounding[i].scale), none);
  if (!sides.is_left(i)) key = key != 0 && sides.is_right(i) ? key | right_bit : 0;
  keys[i] = key;
  numbers[i] = static_cast<std::uint32_t>(i);
}

// A warp a packed row, 16 bytes a lane.
template <class Values>
__global__ void pack_rounded_kernel(screen_source source, const row_rounding* rounding,
                                    screen_rows packed, int plane_columns) {
  const index_t i = static_cast<index_t>(blockIdx.x) * warps + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t placed = i < packed.rows ? packed.order[i] : no_packed_row;
  const double factor = placed != no_packed_row ? rounding[placed].factor : 0.0;
  const bool real = factor != 0;
  const index_t row = real ? placed : 0;
  const Values values(source, row);
  std::uint8_t* out = packed.tiles + (i / 8) * 8 * plane_columns + (i % 8) * 16;
  for (int first = static_cast<int>(lane) * 16; first < packed.depth; first += 32 * 16) {
    alignas(16) std::int8_t bytes[16];
#pragma unroll
    for (int b = 0; b < 16; ++b) {
      const int k = first + b;
      bytes[b] = real && k < source.pitch
                     ? static_cast<std::int8_t>(__double2int_rn(values(k) * factor))
                     : std::int8_t{0};
    }
    const int plane = first / plane_columns;
    *reinterpret_cast<int4*>(out + plane * packed.padded_rows * plane_columns +
                             (first - plane * plane_columns) * 8) =
        *reinterpret_cast<const int4*>(bytes);
  }
}

// A warp bounds 64 packed rows. Rows of padding bound nothing.
__global__ void round_bounds_kernel(const row_rounding* rounding, screen_rows packed) {
  const index_t block = static_cast<index_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (block >= packed.padded_rows / screen_block_rows) return;
  float scale = 1e15F;
  float error = 0.0F;
  for (unsigned x = threadIdx.x % 32; x < screen_block_rows; x += 32) {
    const index_t i = block * screen_block_rows + x;
    const std::uint32_t placed = i < packed.rows ? packed.order[i] : no_packed_row;
    if (placed == no_packed_row) continue;
    const row_rounding own = rounding[placed];
    if (own.factor == 0) continue;
    scale = fminf(scale, own.scale);
    error = fmaxf(error, own.error);
  }
  scale = warp_min(scale);
  error = warp_max(error);
  if (threadIdx.x % 32 == 0) packed.blocks[block] = {scale, error};
}

// A warp a candidate: every pair of limbs, 4 columns of each a lane at a time.
__global__ void refine_ranks_kernel(screen_source source, const std::uint32_t* order,
                                    const detail::pair_cut keep, const screen_candidates candidates,
                                    const screened_edges edges) {
  const std::uint64_t found = listed(candidates);
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * warps;
  const unsigned lane = threadIdx.x % 32;
  const int limbs = source.limb_count;
  const index_t words = source.pitch / 4;
  for (std::uint64_t c = static_cast<std::uint64_t>(blockIdx.x) * warps + threadIdx.x / 32;
       c < found; c += step) {
    const std::uint32_t a = order[candidates.list[c].left];
    const std::uint32_t b = order[candidates.list[c].right];
    if (a == no_packed_row || b == no_packed_row) continue;
    const auto* x = reinterpret_cast<const int*>(source.limbs + a * limbs * source.pitch);
    const auto* y = reinterpret_cast<const int*>(source.limbs + b * limbs * source.pitch);
    long long sum = 0;
    for (int l = 0; l < limbs; ++l) {
      for (int r = 0; r < limbs; ++r) {
        // |limb| <= 64: a lane may add up 2^17 words.
        int part = 0;
        for (index_t k = lane; k < words; k += 32) {
          part = __dp4a(x[l * words + k], y[r * words + k], part);
        }
        sum += static_cast<long long>(part) * (1LL << policy::limb_bits * (l + r));
      }
    }
    sum = warp_sum(sum);
    if (lane == 0) add_kept_ranks(a, b, sum, source.square_sums, keep, edges);
  }
}

// Eight lanes a candidate, one partial sum of stats/unit_rows.hpp each: unit rows hold them one
// after the other in the order that adds them up as neighbours, pairs of neighbours, halves.
__global__ void refine_unit_rows_kernel(screen_source source, const std::uint32_t* order,
                                        const detail::pair_cut keep,
                                        const screen_candidates candidates,
                                        const screened_edges edges) {
  constexpr unsigned lanes = detail::partial_sums;
  const std::uint64_t found = listed(candidates);
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * threads / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned mask = 0xffU << (threadIdx.x % 32 / lanes * lanes);
  const index_t segment = source.pitch / lanes;
  for (std::uint64_t c = (static_cast<std::uint64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
       c < found; c += step) {
    const std::uint32_t a = order[candidates.list[c].left];
    const std::uint32_t b = order[candidates.list[c].right];
    if (a == no_packed_row || b == no_packed_row) continue;
    const double* x = source.unit_rows + a * source.pitch + lane * segment;
    const double* y = source.unit_rows + b * source.pitch + lane * segment;
    const double sum = add_partial_sums(segment_dot(x, y, segment), mask);
    if (lane == 0) {
      const double statistic = detail::clip_correlation(sum);
      if (keep.widest.keeps(statistic)) add_edge(a, b, statistic, edges);
    }
  }
}

template <class Values>
void launch_measure(const screen_source& source, row_rounding* rounding, cudaStream_t stream) {
  constexpr index_t long_row = 2048;
  if (source.pitch >= long_row) {
    measure_kernel<Values, threads>
        <<<grid_blocks(source.rows, 1), threads, 0, stream>>>(source, rounding);
  } else {
    measure_kernel<Values, 32>
        <<<grid_blocks(source.rows, warps), threads, 0, stream>>>(source, rounding);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_measure_rounding(const screen_source& source, row_rounding* rounding,
                             cudaStream_t stream) {
  if (source.rows == 0) return;
  if (source.unit_rows != nullptr) {
    launch_measure<unit_row_values>(source, rounding, stream);
  } else {
    launch_measure<rank_row_values>(source, rounding, stream);
  }
}

std::size_t round_order_bytes(index_t rows) {
  return row_sort_scratch::bytes(rows);
}

void launch_round_order(const row_rounding* rounding, index_t rows, const row_sides& sides,
                        std::uint32_t* order, void* temporary, cudaStream_t stream) {
  if (rows == 0) return;
  cuda::arena pieces(temporary);
  row_sort_scratch room(pieces, rows);
  scale_keys_kernel<<<grid_blocks(rows, threads), threads, 0, stream>>>(rounding, rows, sides,
                                                                        room.keys, room.numbers);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(room.cub, room.cub_bytes, room.keys,
                                                            room.sorted_keys, room.numbers, order,
                                                            rows, 0, 32, stream));
}

void launch_pack_rounded(const screen_source& source, const row_rounding* rounding,
                         const screen_rows& packed, cudaStream_t stream) {
  if (packed.padded_rows == 0) return;
  const int plane = packed.depth > 128 ? screen_plane_columns : packed.depth;
  const unsigned blocks = grid_blocks(packed.padded_rows, warps);
  if (source.unit_rows != nullptr) {
    pack_rounded_kernel<unit_row_values>
        <<<blocks, threads, 0, stream>>>(source, rounding, packed, plane);
  } else {
    pack_rounded_kernel<rank_row_values>
        <<<blocks, threads, 0, stream>>>(source, rounding, packed, plane);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
  round_bounds_kernel<<<grid_blocks(packed.padded_rows / screen_block_rows, warps), threads, 0,
                        stream>>>(rounding, packed);
  GPU_SIMILARITY_CHECK_LAUNCH();
  launch_tile_bounds(packed, stream);
}

void launch_rounded_refine(const screen_source& source, const screen_rows& packed,
                           const detail::pair_cut& keep, const screen_candidates& candidates,
                           const screened_edges& edges, cudaStream_t stream) {
  constexpr int blocks = 1024;
  const auto kernel = source.unit_rows != nullptr ? refine_unit_rows_kernel : refine_ranks_kernel;
  kernel<<<blocks, threads, 0, stream>>>(source, packed.order, keep, candidates, edges);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
