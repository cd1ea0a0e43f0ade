#pragma once
// The product of packed operands on compute capability 9.0: warpgroup products fed by bulk copies.

#include "kernels/common/cluster.cuh"
#include "kernels/common/dependent_launch.cuh"
#include "kernels/common/half_tile.cuh"
#include "kernels/matmul/tensor_common.cuh"

namespace gpu::kernels {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A tile of a cluster: in C, two tiles one below the other.
struct tensor_tile {
  index_t item;
  index_t pair_row;  // of pairs of tile rows
  index_t col;
};

/// The stages of the tiles of one cluster: every gridDim.x / cluster-th pair of tiles, in bands of
/// 8 pairs down. A comes to this block alone, B in halves to both blocks of the cluster; a stage is
/// empty once the warpgroups of both have released it.
template <class Layout>
struct tensor_walk {
  static constexpr int stages = Layout::stages;
  static constexpr unsigned stage_bytes = Layout::stage_bytes;
  static constexpr int consumers = Layout::consumers;
  static constexpr int cluster = Layout::cluster;
  static constexpr int half = Layout::b_bytes / cluster;
  static constexpr index_t cell = packed_operand::cell_bytes;

  using cursor = tensor_tile;
  struct load {
    const std::byte* a;
    const std::byte* b;
    index_t left;  // stages of the tile, with this one
  };

  const tensor_problem& p;
  int rank;        // of the block in its cluster
  index_t down;    // pairs of tile rows
  index_t across;  // tile columns

  __device__ tensor_walk(const tensor_problem& problem, int block_rank)
      : p(problem),
        rank(block_rank),
        down(ceil_div(p.m, Layout::rows * cluster)),
        across(ceil_div(p.n, Layout::cols)) {}

  __device__ __forceinline__ index_t first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= down * across) return false;
    constexpr index_t band = 8;
    const index_t first = at.item / (band * across) * band;
    const index_t height = min(band, down - first);
    const index_t within = at.item % (band * across);
    at.pair_row = first + within % height;
    at.col = within / height;
    return true;
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    const index_t a_panel =
        (at.pair_row * cluster + rank) * (Layout::rows / packed_operand::cell_rows);
    const index_t b_panel = at.col * (Layout::cols / packed_operand::cell_rows);
    return {p.a + a_panel * cell, p.b + b_panel * cell + rank * half, p.a_shape.depths};
  }
  __device__ __forceinline__ bool next(load& here) const {
    here.a += p.a_shape.panels * cell;
    here.b += p.b_shape.panels * cell;
    return --here.left != 0;
  }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    constexpr unsigned short everyone = (1U << cluster) - 1;
    bulk_copy(memory, here.a, Layout::a_bytes, full);
    bulk_copy_to_cluster(memory + Layout::a_bytes + rank * half, here.b, half, full, everyone);
  }
};

template <class Layout>
using tensor_stream = warpgroup_stream<tensor_walk<Layout>>;

/// Writes a warpgroup's 64 x cols sums to C.
template <class Layout>
__device__ void store_sums(const tensor_problem& p, const float (&sum)[Layout::cols / 2],
                           index_t first_row, index_t first_col) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const bool aligned = pairs_are_aligned(p);
  const index_t row = first_row + thread / 32 * 16 + thread % 32 / 4;
  const index_t col = first_col + thread % 4 * 2;
  const int upper = tensor_shift(p.a_peaks[row]);
  const int lower = tensor_shift(p.a_peaks[row + 8]);
#pragma unroll
  for (int j = 0; j < Layout::cols / 8; ++j) {
    const uint2 peaks = *reinterpret_cast<const uint2*>(p.b_peaks + col + 8 * j);
    const int left = tensor_shift(peaks.x);
    const int right = tensor_shift(peaks.y);
    if (row < p.m) {
      store_pair(p, row, col + 8 * j, unscale(sum[4 * j], upper, left),
                 unscale(sum[4 * j + 1], upper, right), aligned);
    }
    if (row + 8 < p.m) {
      store_pair(p, row + 8, col + 8 * j, unscale(sum[4 * j + 2], lower, left),
                 unscale(sum[4 * j + 3], lower, right), aligned);
    }
  }
}

/// A warpgroup: multiplies 64 rows by cols columns of each tile.
template <class Layout, int run>
__device__ void multiply_tiles(const tensor_problem& p, const tensor_stream<Layout>& stream,
                               int group) {
  ring_position<Layout::stages> position{0, 0};
  for (auto at = stream.first_item(); stream.walk.locate(at); stream.next_item(at)) {
    float sum[Layout::cols / 2];
    multiply_halves<Layout, run>(stream, position, group, p.a_shape.depths, sum);
    const index_t row = (at.pair_row * Layout::cluster + stream.walk.rank) * Layout::rows;
    store_sums<Layout>(p, sum, row + group * packed_operand::cell_rows, at.col * Layout::cols);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// A block of three warpgroups: one copies, two multiply 64 rows each of a 128 x cols tile, over
/// and over until the tiles of its cluster are done. Shared memory is a ring of `stages` stages of
/// 32 values of k, high and low halves. Longer runs are faster and less exact, see tensor_run.
template <class Layout, int run>
__global__ void GPU_SIMILARITY_CLUSTER(Layout::cluster) __launch_bounds__(Layout::threads, 1)
    tensor_multiply_wgmma(const __grid_constant__ tensor_problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  wait_for_previous_kernel();
  let_next_kernel_start();
  if (*p.flag != 0) return;
  extern __shared__ unsigned char shared_memory[];
  __shared__ stream_storage<tensor_walk<Layout>> storage;
  const tensor_walk<Layout> walk(p, cluster_rank());
  const tensor_stream<Layout> stream{walk, (shared_address(shared_memory) + 1023) / 1024 * 1024,
                                     storage};
  if (threadIdx.x == 0) stream.init();
  cluster_sync();
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    if (threadIdx.x == 0) stream.issue_all();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    multiply_tiles<Layout, run>(p, stream, group - 1);
  }
  // No block leaves while the other may still signal it.
  cluster_sync();
#endif
}

template <class Layout, int run>
void launch_tensor_wgmma(const tensor_problem& p, cudaStream_t stream) {
  const auto kernel = tensor_multiply_wgmma<Layout, run>;
  allow_shared_memory(kernel, Layout::shared_bytes);
  const index_t pairs = ceil_div(p.m, Layout::rows * Layout::cluster) * ceil_div(p.n, Layout::cols);
  const unsigned clusters =
      grid_blocks(pairs, 1, cuda::current_limits().multiprocessors / Layout::cluster);
  launch_dependent(kernel, clusters * Layout::cluster, Layout::threads, Layout::shared_bytes,
                   stream, p);
}

}  // namespace gpu::kernels
