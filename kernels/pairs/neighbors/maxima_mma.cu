// The first half of the neighbour search without warpgroup products: the same maxima by mma.sync.
//
// A warp holds 64 left rows (32 where rows are long) as fragments and walks the spans of a chunk,
// eight right rows at a time, which it reads from global memory. Packed rows lie so that a lane's
// 16 bytes are its fragments of 32 columns; both operands have the columns in the same order. The
// warps of a block walk the same right rows, so all but the first find them in L1. No shared
// memory; 2 blocks of 8 warps a multiprocessor.

#include "kernels/common/launch.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/neighbors/fold.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/packing.hpp"

namespace gpu::kernels {
namespace {

constexpr int warps = 8;
constexpr int most_chunk_spans = 32;

struct mma_arguments {
  const std::uint8_t* tiles;
  neighbor_block block;
  index_t spans;  // of the right rows
  int chunk_spans;
  unsigned sign_flips;
};

template <int depth>
constexpr int row_blocks = depth <= 128 ? 4 : 2;
template <int depth>
constexpr int panel_rows = warps * 16 * row_blocks<depth>;

#ifdef GPU_SIMILARITY_HAS_MMA_SYNC

template <int depth>
struct mma_shape {
  static constexpr int blocks = row_blocks<depth>;   // of 16 left rows in a warp
  static constexpr int pieces = depth / 64;          // of 16 bytes that a lane holds of a row
  static constexpr int ahead = pieces == 1 ? 8 : 4;  // groups of eight right rows in flight
};

// The left rows of a warp: fragments of 16 columns.
template <int depth>
using left_fragments = unsigned[mma_shape<depth>::blocks][mma_shape<depth>::pieces][2][4];

// Reads the warp's left rows from `rows` on, the lane's first 16 bytes.
template <int depth>
__device__ __forceinline__ void load_left(const std::uint8_t* rows, unsigned flips,
                                          left_fragments<depth>& left) {
#pragma unroll
  for (int x = 0; x < mma_shape<depth>::blocks; ++x) {
#pragma unroll
    for (int p = 0; p < mma_shape<depth>::pieces; ++p) {
      const std::uint8_t* piece = rows + x * 16 * depth + p * 512;
      const uint4 upper = *reinterpret_cast<const uint4*>(piece);
      const uint4 lower = *reinterpret_cast<const uint4*>(piece + 8 * depth);
      left[x][p][0][0] = upper.x ^ flips;
      left[x][p][0][1] = lower.x ^ flips;
      left[x][p][0][2] = upper.y ^ flips;
      left[x][p][0][3] = lower.y ^ flips;
      left[x][p][1][0] = upper.z ^ flips;
      left[x][p][1][1] = lower.z ^ flips;
      left[x][p][1][2] = upper.w ^ flips;
      left[x][p][1][3] = lower.w ^ flips;
    }
  }
}

// Folds the products of the left rows with `ahead` groups of eight right rows into `best`.
template <int depth, bool magnitude>
__device__ __forceinline__ void fold_products(const left_fragments<depth>& left,
                                              const std::uint8_t* right,
                                              unsigned (&best)[mma_shape<depth>::blocks][2]) {
  using shape = mma_shape<depth>;
  uint4 rows[shape::ahead][shape::pieces];
#pragma unroll
  for (int e = 0; e < shape::ahead; ++e) {
#pragma unroll
    for (int p = 0; p < shape::pieces; ++p) {
      rows[e][p] = __ldg(reinterpret_cast<const uint4*>(right + e * 8 * depth + p * 512));
    }
  }
#pragma unroll
  for (int e = 0; e < shape::ahead; ++e) {
#pragma unroll
    for (int x = 0; x < shape::blocks; ++x) {
      unsigned sums[2] = {0, 0};
#pragma unroll
      for (int p = 0; p < shape::pieces; ++p) {
        mma_half_sums(sums, left[x][p][0], rows[e][p].x, rows[e][p].y);
        mma_half_sums(sums, left[x][p][1], rows[e][p].z, rows[e][p].w);
      }
      best[x][0] = larger_halves<magnitude>(best[x][0], sums[0]);
      best[x][1] = larger_halves<magnitude>(best[x][1], sums[1]);
    }
  }
}

#endif

// Block (x, y): panel x of the left rows, chunk y of the spans.
template <int depth, bool magnitude>
__global__ void __launch_bounds__(warps * 32, 2)
    maxima_mma_kernel(const __grid_constant__ mma_arguments args) {
#ifdef GPU_SIMILARITY_HAS_MMA_SYNC
  using shape = mma_shape<depth>;
  const int lane = static_cast<int>(threadIdx.x & 31U);
  const int warp = static_cast<int>(threadIdx.x >> 5);
  const index_t in_block =
      static_cast<index_t>(blockIdx.x) * panel_rows<depth> + warp * (16 * shape::blocks);
  // Rows in groups of eight: row lane / 4, piece lane % 4 of each 64 bytes.
  const index_t lane_offset = lane % 4 * 128 + lane / 4 * 16;
  left_fragments<depth> left;
  load_left<depth>(args.block.left.tiles + (args.block.first + in_block) * depth + lane_offset,
                   args.sign_flips, left);

  const index_t first_span = static_cast<index_t>(blockIdx.y) * args.chunk_spans;
  const index_t last_span = min(first_span + args.chunk_spans, args.spans);
  for (index_t span = first_span; span < last_span; ++span) {
    unsigned best[shape::blocks][2];
#pragma unroll
    for (int x = 0; x < shape::blocks; ++x) best[x][0] = best[x][1] = no_maxima;
    const std::uint8_t* right = args.tiles + span * neighbor_span_rows * depth + lane_offset;
#pragma unroll 1
    for (int eight = 0; eight < neighbor_span_rows / 8; eight += shape::ahead) {
      fold_products<depth, magnitude>(left, right + eight * 8 * depth, best);
    }
#pragma unroll
    for (int x = 0; x < shape::blocks; ++x) {
      std::uint16_t* out = args.block.maxima + (in_block + x * 16 + lane / 4) * args.block.pitch +
                           span * 4 + lane % 4;
      out[0] = larger_half<magnitude>(best[x][0]);
      out[8 * args.block.pitch] = larger_half<magnitude>(best[x][1]);
    }
  }
#endif
}

template <int depth>
void launch(const mma_arguments& args, index_t rows, bool magnitude, cudaStream_t stream) {
  static_assert(neighbor_row_multiple % panel_rows<depth> == 0);
  const dim3 grid(static_cast<unsigned>(rows / panel_rows<depth>),
                  static_cast<unsigned>(ceil_div(args.spans, args.chunk_spans)));
  if (magnitude) {
    maxima_mma_kernel<depth, true><<<grid, warps * 32, 0, stream>>>(args);
  } else {
    maxima_mma_kernel<depth, false><<<grid, warps * 32, 0, stream>>>(args);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_neighbor_maxima_mma(const neighbor_rows& packed, const neighbor_block& block,
                                detail::bin_key key, cudaStream_t stream) {
  if (block.count == 0) return;
  const index_t spans = packed.padded_rows / neighbor_span_rows;
  const mma_arguments args{.tiles = packed.tiles,
                           .block = block,
                           .spans = spans,
                           // A grid has at most 65535 rows.
                           .chunk_spans = static_cast<int>(ceil_div(spans, 65535) > most_chunk_spans
                                                               ? ceil_div(spans, 65535)
                                                               : most_chunk_spans),
                           .sign_flips = key == detail::bin_key::negated_value ? 0x80008000U : 0U};
  const bool magnitude = key == detail::bin_key::magnitude;
  switch (packed.depth) {
    case 64:
      return launch<64>(args, block.count, magnitude, stream);
    case 128:
      return launch<128>(args, block.count, magnitude, stream);
    case 192:
      return launch<192>(args, block.count, magnitude, stream);
    default:
      return launch<256>(args, block.count, magnitude, stream);
  }
}

}  // namespace gpu::kernels
