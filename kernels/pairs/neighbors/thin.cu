// The neighbour search for few left rows: their largest product with each group of 128 right rows.
// The right rows are read as they were prepared, so nothing is packed first.
//
// A warp takes one group after the other. A lane holds one row of the group at a time in registers
// and multiplies it by the left rows, which lie in shared memory: integer sums by dp4a, or unit
// rows in single precision. So right rows are read from memory once, or once for each block of left
// rows that fills shared memory.
//
// What follows is the second half of the search (choice.cu), with many warps a row: each looks at a
// slice of the groups, and merge_kernel takes the best of their lists.

#include <cuda_fp16.h>
#include <math_constants.h>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/neighbors/buckets.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/list.cuh"

namespace gpu::kernels {
namespace {

constexpr int warps = 8;
constexpr int threads = warps * 32;
constexpr int at_a_time = 4;  // left rows whose products are computed side by side
constexpr std::size_t most_shared_bytes = std::size_t{40} << 10;  // of left rows
constexpr int bound_threads = 1024;

struct thin_arguments {
  pair_operand source;
  neighbor_rows right;
  neighbor_block block;
  detail::bin_key key;
};

/// A right row of ranks in registers, the left rows in shared memory.
template <int words>
struct rank_products {
  static constexpr int row_bytes = words * 4;
  int own[words];

  __device__ void load(const pair_operand& source, index_t row) {
    const auto* from = reinterpret_cast<const int4*>(
        static_cast<const std::int8_t*>(source.values) + row * source.pitch);
#pragma unroll
    for (int w = 0; w < words / 4; ++w) *reinterpret_cast<int4*>(&own[w * 4]) = __ldg(from + w);
  }
  static __device__ void share(const pair_operand& source, index_t row, void* to, int lane) {
    const auto* from = reinterpret_cast<const int*>(static_cast<const std::int8_t*>(source.values) +
                                                    row * source.pitch);
    for (int w = lane; w < words; w += 32) static_cast<int*>(to)[w] = from[w];
  }
  /// Times the inverse norms an estimate of the statistic.
  [[nodiscard]] __device__ float product(const void* left) const {
    int sum = 0;
#pragma unroll
    for (int w = 0; w < words; w += 4) {
      const int4 other = reinterpret_cast<const int4*>(left)[w / 4];
      sum = __dp4a(own[w], other.x, sum);
      sum = __dp4a(own[w + 1], other.y, sum);
      sum = __dp4a(own[w + 2], other.z, sum);
      sum = __dp4a(own[w + 3], other.w, sum);
    }
    return static_cast<float>(sum);
  }
};

/// Unit rows of up to 32, 64 or 128 elements: each in single precision.
template <int elements>
struct unit_products {
  static constexpr int row_bytes = elements * 4;
  float own[elements];

  __device__ void load(const pair_operand& source, index_t row) {
    const auto* from = reinterpret_cast<const double2*>(source.unit_rows + row * source.unit_pitch);
#pragma unroll
    for (int k = 0; k < elements; k += 2) {
      const double2 two = k < source.unit_pitch ? __ldg(from + k / 2) : double2{0, 0};
      own[k] = static_cast<float>(two.x);
      own[k + 1] = static_cast<float>(two.y);
    }
  }
  static __device__ void share(const pair_operand& source, index_t row, void* to, int lane) {
    const double* from = source.unit_rows + row * source.unit_pitch;
    for (int k = lane; k < elements; k += 32) {
      static_cast<float*>(to)[k] = k < source.unit_pitch ? static_cast<float>(from[k]) : 0.0F;
    }
  }
  [[nodiscard]] __device__ float product(const void* left) const {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < elements; k += 4) {
      const float4 other = reinterpret_cast<const float4*>(left)[k / 4];
      sum = fmaf(own[k], other.x, sum);
      sum = fmaf(own[k + 1], other.y, sum);
      sum = fmaf(own[k + 2], other.z, sum);
      sum = fmaf(own[k + 3], other.w, sum);
    }
    return sum;
  }
};

// blockIdx.y: which `together` left rows. `Products`: how a right row is held.
template <class Products>
__global__ void __launch_bounds__(threads)
    thin_maxima_kernel(const __grid_constant__ thin_arguments args, int together) {
  extern __shared__ __align__(16) std::uint8_t left[];
  auto* const left_inverse = reinterpret_cast<float*>(left + together * Products::row_bytes);
  const int lane = static_cast<int>(threadIdx.x & 31U);
  const int warp = static_cast<int>(threadIdx.x / 32);
  float* const best = left_inverse + together * (1 + warp);
  const index_t first = static_cast<index_t>(blockIdx.y) * together;
  const int here = static_cast<int>(min(args.block.count - first, index_t{together}));
  for (int l = warp; l < together; l += warps) {
    const index_t row = args.block.left.first + args.block.first + first + min(l, here - 1);
    Products::share(args.source, row, left + l * Products::row_bytes, lane);
    if (lane == 0) left_inverse[l] = args.source.norms[row].inverse;
  }
  __syncthreads();
  const index_t step = static_cast<index_t>(gridDim.x) * warps;
  for (index_t group = static_cast<index_t>(blockIdx.x) * warps + warp;
       group < neighbor_groups(args.right); group += step) {
    for (int l = lane; l < together; l += 32) best[l] = CUDART_NAN_F;
    __syncwarp();
#pragma unroll 1
    for (int t = 0; t < neighbor_group_rows / 32; ++t) {
      const index_t place = group * neighbor_group_rows + t * 32 + lane;
      const bool there = place < args.right.rows;
      const index_t row = args.right.first + (there ? place : args.right.rows - 1);
      Products right;
      right.load(args.source, row);
      const float inverse = args.source.norms[row].inverse;  // NaN: no statistic
#pragma unroll 1
      for (int l = 0; l < here; l += at_a_time) {
        float keys[at_a_time];
#pragma unroll
        for (int i = 0; i < at_a_time; ++i) {
          const float estimate =
              right.product(left + (l + i) * Products::row_bytes) * (left_inverse[l + i] * inverse);
          keys[i] = there ? neighbor_key(estimate, args.key) : CUDART_NAN_F;
        }
#pragma unroll
        for (int i = 0; i < at_a_time; ++i) {
          keys[i] = warp_max(keys[i]);
          // The number where one is NaN.
          if (lane == 0) best[l + i] = fmaxf(best[l + i], keys[i]);
        }
      }
    }
    __syncwarp();
    for (int l = lane; l < here; l += 32) {
      args.block.maxima[(first + l) * args.block.pitch + group] =
          __half_as_ushort(__float2half_rn(best[l]));
    }
    __syncwarp();
  }
}

template <class Products>
void launch_products(const thin_arguments& args, int multiprocessors, cudaStream_t stream) {
  constexpr int blocks_of_multiprocessor = 8;
  constexpr std::size_t bytes_of_row = Products::row_bytes + (1 + warps) * sizeof(float);
  constexpr index_t most_together = most_shared_bytes / bytes_of_row / at_a_time * at_a_time;
  const index_t parts = ceil_div(args.block.count, most_together);
  const index_t together = round_up(ceil_div(args.block.count, parts), at_a_time);
  const auto wanted = static_cast<index_t>(grid_blocks(neighbor_groups(args.right), warps));
  const auto most = static_cast<index_t>(multiprocessors) * blocks_of_multiprocessor;
  const dim3 grid(static_cast<unsigned>(wanted < most ? wanted : most),
                  static_cast<unsigned>(parts));
  thin_maxima_kernel<Products>
      <<<grid, threads, static_cast<std::size_t>(together) * bytes_of_row, stream>>>(
          args, static_cast<int>(together));
  GPU_SIMILARITY_CHECK_LAUNCH();
}

// A block a left row: every thread has eight buckets of maxima, and the k-th largest of all is
// found bit by bit.
__global__ void __launch_bounds__(bound_threads)
    thin_bounds_kernel(const std::uint16_t* maxima, index_t pitch, index_t groups,
                       index_t first_own, unsigned k, float* bounds) {
  __shared__ unsigned reached;
  const index_t row = blockIdx.x;
  const std::uint16_t* of_row = maxima + row * pitch;
  const index_t own = first_own < 0 ? -1 : (first_own + row) / neighbor_group_rows;
  unsigned keys[8] = {};
  for (index_t first = static_cast<index_t>(threadIdx.x) * 8; first < groups;
       first += bound_threads * 8) {
#pragma unroll
    for (int h = 0; h < 8; ++h) {
      const index_t group = first + h;
      if (group < groups && group != own) keys[h] = max(keys[h], ordered_half(of_row[group]));
    }
  }
  const unsigned bound = kth_largest(keys, 0x8000U, k, [](unsigned mine) {
    if (threadIdx.x == 0) reached = 0;
    __syncthreads();
    if (mine != 0) atomicAdd(&reached, mine);
    __syncthreads();
    const unsigned sum = reached;
    __syncthreads();
    return sum;
  });
  if (threadIdx.x == 0) bounds[row] = bound == 0 ? -CUDART_INF_F : half_of_ordered(bound);
}

// A warp a row: the best of the lists of its slices. Slices are in the order of their partners and
// lists are best first, so that of equal keys the lowest partner always comes first.
__global__ void __launch_bounds__(32) merge_kernel(neighbor_result slices, int count, index_t k,
                                                   detail::bin_key key, neighbor_result out) {
  __shared__ neighbor_list::storage storage;
  __shared__ unsigned before[neighbor_most_slices + 1];
  const int lane = static_cast<int>(threadIdx.x);
  const index_t first = static_cast<index_t>(blockIdx.x) * count;
  if (lane == 0) {
    before[0] = 0;
    for (int s = 0; s < count; ++s) before[s + 1] = before[s] + slices.count[first + s];
  }
  __syncwarp();
  neighbor_list list(storage, static_cast<int>(k), key);
  int slice = 0;
  for (unsigned base = 0; base < before[count]; base += 32) {
    const unsigned at = base + static_cast<unsigned>(lane);
    const bool there = at < before[count];
    while (there && at >= before[slice + 1]) ++slice;
    const index_t entry =
        there ? (first + slice) * k + static_cast<index_t>(at - before[slice]) : 0;
    const double statistic = there ? slices.statistic[entry] : 0.0;
    list.add(there && neighbor_key(statistic, key) > list.bar(), statistic,
             there ? slices.index[entry] : 0);
  }
  list.keep_best();
  list.write(out, blockIdx.x);
}

}  // namespace

void launch_thin_maxima(const pair_operand& source, const neighbor_rows& packed,
                        const neighbor_block& block, const neighbor_query& query, float* bounds,
                        int multiprocessors, cudaStream_t stream) {
  if (block.count == 0 || packed.rows == 0) return;
  const thin_arguments args{source, packed, block, query.key};
  const index_t elements = source.unit_rows != nullptr ? source.unit_pitch : source.pitch;
  if (source.unit_rows != nullptr) {
    if (elements <= 32) {
      launch_products<unit_products<32>>(args, multiprocessors, stream);
    } else if (elements <= 64) {
      launch_products<unit_products<64>>(args, multiprocessors, stream);
    } else {
      launch_products<unit_products<128>>(args, multiprocessors, stream);
    }
  } else if (elements <= 32) {
    launch_products<rank_products<8>>(args, multiprocessors, stream);
  } else if (elements <= 64) {
    launch_products<rank_products<16>>(args, multiprocessors, stream);
  } else {
    launch_products<rank_products<32>>(args, multiprocessors, stream);
  }
  const index_t own = block.left.first + block.first - packed.first;
  thin_bounds_kernel<<<static_cast<unsigned>(block.count), bound_threads, 0, stream>>>(
      block.maxima, block.pitch, neighbor_groups(packed), own, static_cast<unsigned>(query.k),
      bounds);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_merge_slices(const neighbor_result& slices, int count, index_t rows,
                         const neighbor_query& query, const neighbor_result& result,
                         cudaStream_t stream) {
  if (rows == 0) return;
  merge_kernel<<<static_cast<unsigned>(rows), 32, 0, stream>>>(slices, count, query.k, query.key,
                                                               result);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
