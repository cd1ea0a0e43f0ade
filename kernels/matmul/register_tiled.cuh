#pragma once
// register_tiled: C on the CUDA cores in IEEE arithmetic, a tile of it in each thread's registers.

#include "kernels/common/dependent_launch.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/tile_place.cuh"
#include "kernels/matmul/kernels.hpp"
#include "kernels/matmul/tile_loader.cuh"

namespace gpu::kernels {

/// How the threads of a block share out its tile. A warp is 8 x 4 threads. A thread's rows and
/// columns come in groups of 16 bytes, groups of one thread 8 (4) groups apart, so that a warp
/// reads neighbouring 16-byte words of shared memory: no bank conflicts.
template <class T, int block_m, int block_n, int block_k, int thread_m, int thread_n,
          int stage_count>
struct register_layout {
  static constexpr int rows = thread_m;
  static constexpr int cols = thread_n;
  static constexpr int depth = block_k;
  static constexpr int stages = stage_count;
  static constexpr int block_rows = block_m;
  static constexpr int block_cols = block_n;
  static constexpr int vector = 16 / sizeof(T);
  static constexpr int threads = block_m / thread_m * (block_n / thread_n);
  static constexpr int warps_down = block_m / (8 * thread_m);
  static constexpr int a_pitch = block_m + vector;
  static constexpr int b_pitch = block_n + vector;
  static constexpr int stage_size = block_k * (a_pitch + b_pitch);
  static constexpr std::size_t shared_bytes = sizeof(T) * stages * stage_size;
  static constexpr int accumulators = thread_m * thread_n;
  // 128 accumulators leave room for 256 threads, fewer for 512.
  static constexpr int blocks_per_multiprocessor =
      (accumulators * sizeof(T) >= 512 ? 256 : 512) / threads;
  static_assert(block_m % (8 * thread_m) == 0 && block_n % (4 * thread_n) == 0);
  static_assert(thread_m % vector == 0 && thread_n % vector == 0);

  int first_row;
  int first_col;
  __device__ register_layout() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    first_row = warp % warps_down * 8 * thread_m + lane / 2 % 8 * vector;
    first_col = warp / warps_down * 4 * thread_n + (lane / 16 * 2 + lane % 2) * vector;
  }
  /// Row or column of the thread's i-th, within the block.
  __device__ int row(int i) const { return first_row + i / vector * 8 * vector + i % vector; }
  __device__ int col(int j) const { return first_col + j / vector * 4 * vector + j % vector; }
};

/// Reads `count` values in groups of 16 bytes that lie `gap` apart.
template <int count, int gap, class T>
__device__ void read_fragment(T (&to)[count], const T* from) {
  constexpr int vector = 16 / sizeof(T);
  struct alignas(16) word {
    T value[vector];
  };
#pragma unroll
  for (int g = 0; g < count / vector; ++g) {
    const word w = *reinterpret_cast<const word*>(from + g * gap);
#pragma unroll
    for (int x = 0; x < vector; ++x) to[g * vector + x] = w.value[x];
  }
}

/// What a thread multiplies, at two k: the values of one are read while those of the other are
/// used. B is read first, and products go along rows back and forth, so that each shares an operand
/// with the one before it. Neither order changes a result.
template <class Layout, class T>
struct fragments {
  T a[2][Layout::rows];
  T b[2][Layout::cols];

  /// Reads those of k number l of a stage.
  __device__ void read(const Layout& layout, const T* stage, int l) {
    constexpr int vector = Layout::vector;
    const T* b_tile = stage + Layout::depth * Layout::a_pitch + layout.first_col;
    const T* a_tile = stage + layout.first_row;
    read_fragment<Layout::cols, 4 * vector>(b[l % 2], b_tile + l * Layout::b_pitch);
    read_fragment<Layout::rows, 8 * vector>(a[l % 2], a_tile + l * Layout::a_pitch);
  }
  __device__ void multiply_add(T (&sum)[Layout::rows][Layout::cols], int l) const {
#pragma unroll
    for (int i = 0; i < Layout::rows; ++i) {
#pragma unroll
      for (int at = 0; at < Layout::cols; ++at) {
        const int j = i % 2 == 0 ? at : Layout::cols - 1 - at;
        sum[i][j] = fma(a[l % 2][i], b[l % 2][j], sum[i][j]);
      }
    }
  }
};

/// Writes the thread's part of C, in 16-byte words where they are aligned and inside.
template <class Layout, class T>
__device__ void store_tile(const Layout& layout, const T (&sum)[Layout::rows][Layout::cols], T* c,
                           index_t stride, index_t rows, index_t cols) {
  constexpr int vector = Layout::vector;
  struct alignas(16) word {
    T value[vector];
  };
  const bool aligned = reinterpret_cast<std::size_t>(c) % 16 == 0 && stride % vector == 0;
#pragma unroll
  for (int i = 0; i < Layout::rows; ++i) {
    if (layout.row(i) >= rows) continue;
    T* row = c + layout.row(i) * stride;
#pragma unroll
    for (int j = 0; j < Layout::cols; j += vector) {
      const int col = layout.col(j);
      if (aligned && col + vector <= cols) {
        word w;
#pragma unroll
        for (int x = 0; x < vector; ++x) w.value[x] = sum[i][j + x];
        *reinterpret_cast<word*>(row + col) = w;
      } else {
#pragma unroll
        for (int x = 0; x < vector; ++x) {
          if (col + x < cols) row[col + x] = sum[i][j + x];
        }
      }
    }
  }
}

/// Brings the tiles of A and B that a block multiplies to stages of shared memory.
template <class T, class Layout, tile_reading a_reading, tile_reading b_reading>
struct tile_feeder {
  T* stages;
  tile_source<T> a;
  tile_source<T> b;
  index_t steps;
  tile_loader<T, Layout::block_rows, Layout::depth, Layout::threads, a_reading> load_a;
  tile_loader<T, Layout::block_cols, Layout::depth, Layout::threads, b_reading> load_b;

  /// `steps` steps of k; whole ones are read from `first_whole` on.
  __device__ tile_feeder(T* memory, const tile_source<T>& a_source, const tile_source<T>& b_source,
                         index_t step_count, index_t first_whole)
      : stages(memory),
        a(a_source),
        b(b_source),
        steps(step_count),
        load_a(a_source, first_whole),
        load_b(b_source, first_whole) {}

  /// Starts to bring the next whole step, which is number `step`.
  __device__ void fetch(index_t step, int stage) {
    T* to = stages + stage * Layout::stage_size;
    if (step < steps) {
      load_a.load_next(to);
      load_b.load_next(to + Layout::depth * Layout::a_pitch);
    }
    __pipeline_commit();
  }
  /// Starts to bring k from `begin` to `end`, less than a step, to the first stage.
  __device__ void fetch_part(index_t begin, index_t end) {
    copy_partial_tile<T, Layout::block_rows, Layout::depth, Layout::threads>(
        a, stages, Layout::a_pitch, begin, end);
    copy_partial_tile<T, Layout::block_cols, Layout::depth, Layout::threads>(
        b, stages + Layout::depth * Layout::a_pitch, Layout::b_pitch, begin, end);
    __pipeline_commit();
  }
};

/// sum = the product of all steps, the first of which is on its way. `stages` tiles of A and B are
/// in flight, with one barrier a step. The fragments of the next k are read while those of this one
/// are multiplied, across the barrier too.
template <class Layout, class Feeder, class T>
__device__ __forceinline__ void multiply_steps(const Layout& layout, Feeder& feeder,
                                               T (&sum)[Layout::rows][Layout::cols]) {
  fragments<Layout, T> values;
#pragma unroll
  for (int s = 1; s < Layout::stages - 1; ++s) feeder.fetch(s, s);
  __pipeline_wait_prior(Layout::stages - 2);
  __syncthreads();
  values.read(layout, feeder.stages, 0);
  int stage = 0;
  for (index_t step = 0; step < feeder.steps; ++step) {
    const T* here = feeder.stages + stage * Layout::stage_size;
    const int before = stage == 0 ? Layout::stages - 1 : stage - 1;
    stage = stage + 1 == Layout::stages ? 0 : stage + 1;
    const T* next = feeder.stages + stage * Layout::stage_size;
#pragma unroll
    for (int l = 0; l < Layout::depth; ++l) {
      if (l + 1 < Layout::depth) {
        values.read(layout, here, l + 1);
      } else {
        // The next stage has come, and everyone has read the last of this one.
        __pipeline_wait_prior(Layout::stages - 2);
        __syncthreads();
        values.read(layout, next, 0);
      }
      if (l == 0) feeder.fetch(step + Layout::stages - 1, before);
      values.multiply_add(sum, l);
    }
  }
}

/// Block (x, y): tile x of C, part y of k. A block walks its part of k in steps of `depth`. A
/// partial step comes first, so that the loop knows whole ones only. With more than one part, part
/// y writes its product to partial[y], and matmul_sum_partials adds them up in order. Shared
/// memory: `stages` tiles of A and B.
template <class T, class Layout, tile_reading a_reading, tile_reading b_reading>
__global__ void __launch_bounds__(Layout::threads, Layout::blocks_per_multiprocessor)
    matmul_register_tiled(const __grid_constant__ matmul_problem<T> p, index_t part_depth,
                          T* partial, const unsigned* run_if) {
  if (run_if != nullptr) {
    wait_for_previous_kernel();
    if (*run_if == 0) return;
  }
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const tile_place place(blockIdx.x, ceil_div(p.m, Layout::block_rows),
                         ceil_div(p.n, Layout::block_cols));
  const index_t first_row = place.row * Layout::block_rows;
  const index_t first_col = place.col * Layout::block_cols;
  const index_t begin = blockIdx.y * part_depth;
  const index_t end = max(begin, min(p.k, begin + part_depth));
  const index_t rest = (end - begin) % Layout::depth;
  tile_feeder<T, Layout, a_reading, b_reading> feeder(
      reinterpret_cast<T*>(shared_memory), {p.a.data, p.a.row_step, p.a.col_step, first_row, p.m},
      {p.b.data, p.b.col_step, p.b.row_step, first_col, p.n}, ceil_div(end - begin, Layout::depth),
      begin + rest);
  const Layout layout;
  T sum[Layout::rows][Layout::cols] = {};
  rest > 0 ? feeder.fetch_part(begin, begin + rest) : feeder.fetch(0, 0);
  multiply_steps(layout, feeder, sum);
  T* c = p.c;
  index_t stride = p.c_stride;
  if (gridDim.y > 1) {
    c = partial + blockIdx.y * (p.m * p.n);
    stride = p.n;
  }
  store_tile(layout, sum, c + first_row * stride + first_col, stride, p.m - first_row,
             p.n - first_col);
}

/// C = partial[0] + partial[1] + ..., one element per thread.
template <class T>
__global__ void __launch_bounds__(256)
    matmul_sum_partials(matmul_problem<T> p, const T* partial, int parts) {
  const index_t count = p.m * p.n;
  const index_t e = static_cast<index_t>(blockIdx.x) * 256 + threadIdx.x;
  if (e >= count) return;
  T sum = partial[e];
  for (int part = 1; part < parts; ++part) sum += partial[part * count + e];
  p.c[e / p.n * p.c_stride + e % p.n] = sum;
}

/// How the lanes of an operand are best read.
template <class T>
tile_reading reading_of(const T* data, index_t lane_step, index_t depth_step, index_t lanes) {
  constexpr index_t vector = 16 / sizeof(T);
  if (depth_step == 1) return tile_reading::along_depth;
  const bool aligned = depth_step % vector == 0 && lanes % vector == 0 &&
                       reinterpret_cast<std::size_t>(data) % 16 == 0;
  return lane_step == 1 && aligned ? tile_reading::wide : tile_reading::along_lanes;
}

template <class T, class Layout, tile_reading a_reading, tile_reading b_reading>
void launch_register_kernel(const matmul_problem<T>& p, index_t splits, T* partial,
                            const unsigned* run_if, cudaStream_t stream) {
  const auto kernel = matmul_register_tiled<T, Layout, a_reading, b_reading>;
  allow_shared_memory(kernel, Layout::shared_bytes);
  const index_t part_depth = round_up(ceil_div(p.k, splits), Layout::depth);
  const dim3 grid(
      grid_blocks(ceil_div(p.m, Layout::block_rows) * ceil_div(p.n, Layout::block_cols), 1),
      static_cast<unsigned>(splits));
  if (run_if != nullptr) {
    launch_dependent(kernel, grid, Layout::threads, Layout::shared_bytes, stream, p, part_depth,
                     partial, run_if);
    return;
  }
  kernel<<<grid, Layout::threads, Layout::shared_bytes, stream>>>(p, part_depth, partial, run_if);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

/// The kernel for how both operands are read. Mixed alignment takes the unaligned form of both.
template <class T, class Layout>
void launch_register_layout(const matmul_problem<T>& p, index_t splits, T* partial,
                            const unsigned* run_if, cudaStream_t stream) {
  using enum tile_reading;
  const auto a = reading_of(p.a.data, p.a.row_step, p.a.col_step, p.m);
  const auto b = reading_of(p.b.data, p.b.col_step, p.b.row_step, p.n);
  if (a == along_depth && b == along_depth) {
    launch_register_kernel<T, Layout, along_depth, along_depth>(p, splits, partial, run_if, stream);
  } else if (a == along_depth && b == wide) {
    launch_register_kernel<T, Layout, along_depth, wide>(p, splits, partial, run_if, stream);
  } else if (a == along_depth) {
    launch_register_kernel<T, Layout, along_depth, along_lanes>(p, splits, partial, run_if, stream);
  } else if (b == along_depth) {
    launch_register_kernel<T, Layout, along_lanes, along_depth>(p, splits, partial, run_if, stream);
  } else if (a == wide && b == wide) {
    launch_register_kernel<T, Layout, wide, wide>(p, splits, partial, run_if, stream);
  } else {
    launch_register_kernel<T, Layout, along_lanes, along_lanes>(p, splits, partial, run_if, stream);
  }
}

template <class T, matmul_policy::tile_name name>
void launch_register_tile(const matmul_problem<T>& p, index_t splits, T* partial,
                          const unsigned* run_if, cudaStream_t stream) {
  constexpr auto tile = matmul_policy::tile_of(sizeof(T), name);
  using layout = register_layout<T, tile.block_m, tile.block_n, tile.block_k, tile.thread_m,
                                 tile.thread_n, tile.stages>;
  launch_register_layout<T, layout>(p, splits, partial, run_if, stream);
}

template <class T>
void launch_matmul_register_tiled(const matmul_problem<T>& p, matmul_policy::tile_name tile,
                                  index_t splits, T* partial, const unsigned* run_if,
                                  cudaStream_t stream) {
  using enum matmul_policy::tile_name;
  switch (tile) {
    case small:
      launch_register_tile<T, small>(p, splits, partial, run_if, stream);
      break;
    case narrow:
      launch_register_tile<T, narrow>(p, splits, partial, run_if, stream);
      break;
    case slim:
      launch_register_tile<T, slim>(p, splits, partial, run_if, stream);
      break;
    default:
      launch_register_tile<T, medium>(p, splits, partial, run_if, stream);
      break;
  }
  if (splits > 1) {
    const unsigned blocks = grid_blocks(p.m * p.n, 256);
    matmul_sum_partials<T><<<blocks, 256, 0, stream>>>(p, partial, static_cast<int>(splits));
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels
