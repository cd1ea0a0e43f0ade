#pragma once
// The product of packed operands on compute capability 9.0: warpgroup products fed by bulk copies.

#include "matmul/tensor_common.cuh"
#include "matmul/wgmma_half.cuh"

namespace gpu::kernels {

/// Shape of the kernel; columns is 128 or 192.
template <int columns, int stage_count>
struct wgmma_layout {
  static constexpr int rows = 128;
  static constexpr int cols = columns;
  static constexpr int stages = stage_count;
  static constexpr int cluster = 2;  // blocks, one below the other, that share columns of B
  static constexpr int consumers = 2;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr int a_panels = rows / packed_operand::cell_rows;
  static constexpr int b_panels = cols / packed_operand::cell_rows;
  static constexpr int a_bytes = a_panels * static_cast<int>(packed_operand::cell_bytes);
  static constexpr int b_bytes = b_panels * static_cast<int>(packed_operand::cell_bytes);
  static constexpr int stage_bytes = a_bytes + b_bytes;
  // The swizzle counts from multiples of 1024.
  static constexpr std::size_t shared_bytes = static_cast<std::size_t>(stages) * stage_bytes + 1024;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A barrier in shared memory that counts arrivals and bytes.
struct copy_barrier {
  std::uint32_t address;

  __device__ void init(int arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals));
  }
  __device__ void expect(int bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
  }
  /// Arrives at the same barrier of block `rank` of the cluster.
  __device__ void arrive_at(int rank) const {
    asm volatile(
        "{\n.reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}\n" ::"r"(address),
        "r"(rank)
        : "memory");
  }
  __device__ void wait(unsigned phase) const {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@done bra over;\nbra again;\nover:\n}\n" ::"r"(address),
        "r"(phase)
        : "memory");
  }
};

/// Copies `bytes` to this block, or to the same place in every block of `blocks`.
__device__ inline void bulk_copy(std::uint32_t to, const std::byte* from, int bytes,
                                 copy_barrier barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier.address)
      : "memory");
}
__device__ inline void bulk_copy_to_cluster(std::uint32_t to, const std::byte* from, int bytes,
                                            copy_barrier barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier.address), "h"(blocks)
      : "memory");
}
__device__ inline int cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::
                   : "memory");
}

/// Which stage comes next, and how often the ring has gone round.
struct ring_place {
  int stage = 0;
  unsigned phase = 0;
  template <int stages>
  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

/// The tiles of one cluster: every gridDim.x / cluster-th pair of tiles, in bands of 8 pairs down.
template <class Layout>
struct tile_walk {
  index_t index;
  index_t down;    // pairs of tile rows
  index_t across;  // tile columns
  __device__ explicit tile_walk(const tensor_problem& p)
      : index(blockIdx.x / Layout::cluster),
        down(ceil_div(p.m, Layout::rows * Layout::cluster)),
        across(ceil_div(p.n, Layout::cols)) {}
  __device__ bool more() const { return index < down * across; }
  __device__ void next() { index += gridDim.x / Layout::cluster; }
  __device__ void place(index_t& pair_row, index_t& col) const {
    constexpr index_t band = 8;
    const index_t first = index / (band * across) * band;
    const index_t height = min(band, down - first);
    const index_t within = index % (band * across);
    pair_row = first + within % height;
    col = within / height;
  }
};

/// One thread: keeps the ring of stages filled. A comes to this block alone, B in halves to both
/// blocks of the cluster; a stage is free once the warpgroups of both have left it.
template <class Layout>
__device__ void feed_tiles(const tensor_problem& p, std::uint32_t stages, std::uint32_t full,
                           std::uint32_t empty, int rank) {
  constexpr int half = Layout::b_bytes / Layout::cluster;
  constexpr unsigned short everyone = (1U << Layout::cluster) - 1;
  ring_place at;
  for (tile_walk<Layout> tiles(p); tiles.more(); tiles.next()) {
    index_t pair_row;
    index_t col;
    tiles.place(pair_row, col);
    const index_t a_panel = (pair_row * Layout::cluster + rank) * Layout::a_panels;
    const index_t b_panel = col * Layout::b_panels;
    const auto cell = static_cast<index_t>(packed_operand::cell_bytes);
    const std::byte* a = p.a + a_panel * cell;
    const std::byte* b = p.b + b_panel * cell + rank * half;
    for (index_t depth = 0; depth < p.a_shape.depths; ++depth) {
      const copy_barrier is_full{full + at.stage * 8};
      copy_barrier{empty + at.stage * 8}.wait(at.phase ^ 1);
      is_full.expect(Layout::stage_bytes);
      const std::uint32_t to = stages + at.stage * Layout::stage_bytes;
      bulk_copy(to, a, Layout::a_bytes, is_full);
      bulk_copy_to_cluster(to + Layout::a_bytes + rank * half, b, half, is_full, everyone);
      a += p.a_shape.panels * cell;
      b += p.b_shape.panels * cell;
      at.template advance<Layout::stages>();
    }
  }
}

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

/// A warpgroup: multiplies 64 rows by cols columns. Tensor cores cut off what does not fit a
/// float instead of rounding, so a product runs for `run` stages at most, and its result is added
/// to the sums in registers with one rounding.
template <class Layout, int run>
__device__ void multiply_tiles(const tensor_problem& p, std::uint32_t stages, std::uint32_t full,
                               std::uint32_t empty, int rank, int group) {
  using product = warpgroup_product<Layout::cols>;
  constexpr int cell = static_cast<int>(packed_operand::cell_bytes);
  const bool arrives = threadIdx.x % 128 < Layout::cluster;
  ring_place at;
  for (tile_walk<Layout> tiles(p); tiles.more(); tiles.next()) {
    float sum[product::accumulators] = {};
    for (index_t depth = 0; depth < p.a_shape.depths; depth += run) {
      float part[product::accumulators];
      const int count = static_cast<int>(min(index_t{run}, p.a_shape.depths - depth));
      int previous = 0;
      for (int s = 0; s < count; ++s) {
        copy_barrier{full + at.stage * 8}.wait(at.phase);
        const std::uint32_t base = stages + at.stage * Layout::stage_bytes;
        const std::uint64_t a = wgmma_descriptor(base + group * cell);
        const std::uint64_t b = wgmma_descriptor(base + Layout::a_bytes);
        pin_registers(part);
        wgmma_fence();
        // Offsets count 16 bytes: 2 to the next 16 values of k, 4 from high to low halves.
        product::multiply(part, a + 4, b, s != 0);
        product::multiply(part, a, b + 4, 1);
        product::multiply(part, a + 6, b + 2, 1);
        product::multiply(part, a + 2, b + 6, 1);
        product::multiply(part, a, b, 1);
        product::multiply(part, a + 2, b + 2, 1);
        wgmma_commit();
        pin_registers(part);
        if (s > 0) {
          wgmma_wait<1>();
          if (arrives) copy_barrier{empty + previous * 8}.arrive_at(threadIdx.x % 128);
        }
        previous = at.stage;
        at.template advance<Layout::stages>();
      }
      wgmma_wait<0>();
      pin_registers(part);
      if (arrives) copy_barrier{empty + previous * 8}.arrive_at(threadIdx.x % 128);
#pragma unroll
      for (int i = 0; i < product::accumulators; ++i) sum[i] += part[i];
    }
    index_t pair_row;
    index_t col;
    tiles.place(pair_row, col);
    const index_t row = (pair_row * Layout::cluster + rank) * Layout::rows;
    store_sums<Layout>(p, sum, row + group * packed_operand::cell_rows, col * Layout::cols);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// A block of three warpgroups: one copies, two multiply 64 rows each of a 128 x cols tile, over
/// and over until the tiles of its cluster are done. Shared memory is a ring of `stages` stages of
/// 32 values of k, high and low halves.
// Older devices have no clusters, and their compilation refuses the word.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GPU_SIMILARITY_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define GPU_SIMILARITY_CLUSTER(blocks)
#endif
template <class Layout, int run>
__global__ void GPU_SIMILARITY_CLUSTER(Layout::cluster) __launch_bounds__(Layout::threads, 1)
    tensor_multiply_wgmma(const __grid_constant__ tensor_problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (*p.flag != 0) return;
  extern __shared__ unsigned char shared_memory[];
  __shared__ alignas(8) std::uint64_t barriers[2 * Layout::stages];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_memory));
  const std::uint32_t stages = (base + 1023) / 1024 * 1024;
  const auto full = static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers));
  const std::uint32_t empty = full + Layout::stages * 8;
  const int rank = cluster_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < Layout::stages; ++s) {
      copy_barrier{full + s * 8}.init(1);
      copy_barrier{empty + s * 8}.init(Layout::cluster * Layout::consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_sync();
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    if (threadIdx.x == 0) feed_tiles<Layout>(p, stages, full, empty, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    multiply_tiles<Layout, run>(p, stages, full, empty, rank, group - 1);
  }
  // No block leaves while the other may still signal it.
  cluster_sync();
#endif
}

template <class Layout, int run>
void launch_tensor_wgmma(const tensor_problem& p, cudaStream_t stream) {
  const auto kernel = tensor_multiply_wgmma<Layout, run>;
  allow_shared_memory(kernel, Layout::shared_bytes);
  int device = 0;
  int multiprocessors = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  GPU_SIMILARITY_CUDA_CHECK(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const index_t pairs = ceil_div(p.m, Layout::rows * Layout::cluster) * ceil_div(p.n, Layout::cols);
  const unsigned clusters = grid_blocks(pairs, 1, multiprocessors / Layout::cluster);
  kernel<<<clusters * Layout::cluster, Layout::threads, Layout::shared_bytes, stream>>>(p);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
