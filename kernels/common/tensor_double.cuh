#pragma once
// Products of doubles on the double-precision tensor cores of compute capability 8.0 and later:
// tiles of both operands stream through shared memory, and warps multiply them. Products and sums
// are IEEE double, so nothing has to be scaled or split. On an H200 every element sampled had the
// bits of a chain of fused multiply-adds in the order of k.

#include <cuda_pipeline_primitives.h>

#include "kernels/common/launch.cuh"

namespace gpu::kernels {

/// An operand from lane `first_lane` on. Lanes are rows of the left operand or columns of the right
/// one.
template <class T>
struct tile_source {
  const T* data;
  index_t lane_step;
  index_t depth_step;
  index_t first_lane;
  index_t lanes;  // of the whole operand
};

/// How tiles of double are held in shared memory. A half-warp reads 4 k of 4 lanes, neighbouring
/// each; with a pitch of 4 modulo 16 they fall into different banks either way.
enum class tile_order {
  by_depth,  ///< [depth][lanes], for operands whose lanes are neighbours in memory.
  by_lane    ///< [lanes][depth], for operands whose k are: copied as they stand.
};

template <int width, int depth, tile_order order>
struct tile_shape {
  static constexpr int pitch = (order == tile_order::by_depth ? width : depth) + 4;
  static constexpr int size = (order == tile_order::by_depth ? depth : width) * pitch;
  __device__ static constexpr int place(int lane, int l) {
    return order == tile_order::by_depth ? l * pitch + lane : lane * pitch + l;
  }
};

/// Copies the steps of k of a tile one after the other, `items` neighbours at a time. Lanes beyond
/// the operand are left as they are: their products are not stored. A pointer moves on in place of
/// index arithmetic, because registers are short.
template <int width, int depth, int threads, tile_order order, int items>
class tile_stream {
 public:
  using shape = tile_shape<width, depth, order>;

  __device__ tile_stream(const tile_source<double>& from, index_t k)
      : next_(from.data + (from.first_lane + lane()) * from.lane_step +
              depth_of_copy() * from.depth_step),
        pass_step_(along_lanes ? per_pass * from.depth_step : per_pass * from.lane_step),
        step_(depth * from.depth_step),
        lanes_(static_cast<int>(min(from.lanes - from.first_lane, index_t{width})) - lane()),
        left_(k) {}

  __device__ void load_next(double* tile) {
    if (left_ >= depth) {
      const double* source = next_;
      double* to = tile + shape::place(lane(), depth_of_copy());
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        if (lanes_ > (along_lanes ? 0 : pass * per_pass)) {
          __pipeline_memcpy_async(to + shape::place(along_lanes ? 0 : pass * per_pass,
                                                    along_lanes ? pass * per_pass : 0),
                                  source, items * sizeof(double));
        }
        source += pass_step_;
      }
      next_ += step_;
    } else if (left_ > 0) {
      load_last(tile);
    }
    left_ -= depth;
  }

 private:
  static constexpr bool along_lanes = order == tile_order::by_depth;
  static constexpr int across = (along_lanes ? width : depth) / items;  // copies side by side
  static constexpr int per_pass = threads / across;                     // lanes or k of one pass
  static constexpr int passes = width * depth / items / threads;
  static_assert(threads % across == 0 && width * depth % (items * threads) == 0);

  __device__ static int lane() {
    const int thread = static_cast<int>(threadIdx.x);
    return along_lanes ? thread % across * items : thread / across;
  }
  __device__ static int depth_of_copy() {
    const int thread = static_cast<int>(threadIdx.x);
    return along_lanes ? thread / across : thread % across * items;
  }

  /// Value by value, zeros beyond k.
  __device__ void load_last(double* tile) const {
    const double* source = next_;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      if (lanes_ > (along_lanes ? 0 : pass * per_pass)) {
        const int at_lane = lane() + (along_lanes ? 0 : pass * per_pass);
        const int l = depth_of_copy() + (along_lanes ? pass * per_pass : 0);
#pragma unroll 1
        for (int x = 0; x < items; ++x) {
          double* to =
              tile + (along_lanes ? shape::place(at_lane + x, l) : shape::place(at_lane, l + x));
          const bool inside = l + (along_lanes ? 0 : x) < left_;
          __pipeline_memcpy_async(to, inside ? source + x : next_, sizeof(double),
                                  inside ? 0 : sizeof(double));
        }
      }
      source += pass_step_;
    }
  }

  const double* next_;
  index_t pass_step_;
  index_t step_;
  int lanes_;
  index_t left_;
};

/// How the warps of a block share out its tile; each computes warp_m x warp_n of it by products of
/// 16 x 8 x (4 quads). Lane l holds rows l / 4 and l / 4 + 8 and columns 2 (l % 4), + 1 of each.
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int stage_count,
          int quad_count, int blocks>
struct tensor_layout_f64 {
  static constexpr int block_rows = block_m;
  static constexpr int block_cols = block_n;
  static constexpr int depth = block_k;
  static constexpr int stages = stage_count;
  static constexpr int quads = quad_count;
  static constexpr int warps_down = block_m / warp_m;
  static constexpr int threads = 32 * warps_down * (block_n / warp_n);
  static constexpr int blocks_per_multiprocessor = blocks;
  static constexpr int down = warp_m / 16;
  static constexpr int across = warp_n / 8;
  static constexpr int rows_of_warp = warp_m;
  static constexpr int cols_of_warp = warp_n;
  static_assert(block_m % 16 == 0 && block_n % 16 == 0 && depth % (8 * quads) == 0);
};

/// sum += A B of 16 x 8 x (4 quads): a[q] are the lane's two rows of A at k = 4 q + lane % 4, b[q]
/// its column of B there.
template <int quads>
__device__ void multiply_add_f64(double (&sum)[4], const double (&a)[quads][2],
                                 const double (&b)[quads]) {
#if __CUDA_ARCH__ >= 900
  if constexpr (quads == 4) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]),
          "d"(a[3][0]), "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
  } else if constexpr (quads == 2) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(b[0]));
  }
#elif __CUDA_ARCH__ >= 800
#pragma unroll
  for (int q = 0; q < quads; ++q) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
                   : "d"(a[q][half]), "d"(b[q]));
    }
  }
#else
  static_cast<void>(sum);
  static_cast<void>(a);
  static_cast<void>(b);
#endif
}

/// What a lane multiplies at one step of 4 quads of k.
template <class Layout>
struct fragments_f64 {
  double a[Layout::down][Layout::quads][2];
  double b[Layout::across][Layout::quads];

  template <class AShape, class BShape>
  __device__ void read(const double* a_tile, const double* b_tile, int l) {
#pragma unroll
    for (int q = 0; q < Layout::quads; ++q) {
#pragma unroll
      for (int i = 0; i < Layout::down; ++i) {
        a[i][q][0] = a_tile[AShape::place(16 * i, l + 4 * q)];
        a[i][q][1] = a_tile[AShape::place(16 * i + 8, l + 4 * q)];
      }
#pragma unroll
      for (int j = 0; j < Layout::across; ++j) b[j][q] = b_tile[BShape::place(8 * j, l + 4 * q)];
    }
  }
  __device__ void multiply_add(double (&sum)[Layout::down][Layout::across][4]) const {
#pragma unroll
    for (int i = 0; i < Layout::down; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::across; ++j) multiply_add_f64(sum[i][j], a[i], b[j]);
    }
  }
};

/// Writes the lane's part of C, in pairs where they are aligned and inside.
template <class Layout>
__device__ void store_tile_f64(const double (&sum)[Layout::down][Layout::across][4], double* c,
                               index_t stride, index_t first_row, index_t first_col, index_t m,
                               index_t n) {
  const bool aligned = reinterpret_cast<std::size_t>(c) % 16 == 0 && stride % 2 == 0;
#pragma unroll
  for (int i = 0; i < 2 * Layout::down; ++i) {
    const index_t row = first_row + 8 * i;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < Layout::across; ++j) {
      const index_t col = first_col + 8 * j;
      const double* pair = sum[i / 2][j] + i % 2 * 2;
      double* to = c + row * stride + col;
      if (aligned && col + 1 < n) {
        *reinterpret_cast<double2*>(to) = make_double2(pair[0], pair[1]);
      } else {
        if (col < n) to[0] = pair[0];
        if (col + 1 < n) to[1] = pair[1];
      }
    }
  }
}

/// The tiles of A and B that a block multiplies, and where they are in shared memory.
template <class Layout, tile_order a_order, int a_items, tile_order b_order, int b_items>
struct tile_feeder_f64 {
  using a_stream =
      tile_stream<Layout::block_rows, Layout::depth, Layout::threads, a_order, a_items>;
  using b_stream =
      tile_stream<Layout::block_cols, Layout::depth, Layout::threads, b_order, b_items>;
  using a_shape = typename a_stream::shape;
  using b_shape = typename b_stream::shape;
  static constexpr int stage_size = a_shape::size + b_shape::size;
  static constexpr std::size_t shared_bytes = sizeof(double) * Layout::stages * stage_size;

  double* stages;
  a_stream load_a;
  b_stream load_b;

  /// The tile of B of the first stage.
  [[nodiscard]] __device__ const double* first_b() const { return stages + a_shape::size; }
  /// Starts to bring the next step of k.
  __device__ void fetch(int stage) {
    double* to = stages + stage * stage_size;
    load_a.load_next(to);
    load_b.load_next(to + a_shape::size);
    __pipeline_commit();
  }
};

/// sum = the product of `steps` steps of k; `row` and `col` are those of the lane in the tile.
/// `stages` tiles of A and B are in flight, with one barrier a step; the fragments of the next
/// products are read while these are multiplied.
template <class Layout, class Feeder>
__device__ __forceinline__ void multiply_steps_f64(Feeder& feeder, index_t steps, int row, int col,
                                                   double (&sum)[Layout::down][Layout::across][4]) {
  using a_shape = typename Feeder::a_shape;
  using b_shape = typename Feeder::b_shape;
  constexpr int substeps = Layout::depth / (4 * Layout::quads);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const double* a_first = feeder.stages + a_shape::place(row, lane % 4);
  const double* b_first = feeder.first_b() + b_shape::place(col, lane % 4);
  fragments_f64<Layout> at[2];
#pragma unroll
  for (int s = 0; s < Layout::stages - 1; ++s) feeder.fetch(s);
  __pipeline_wait_prior(Layout::stages - 2);
  __syncthreads();
  at[0].template read<a_shape, b_shape>(a_first, b_first, 0);
  int stage = 0;
  for (index_t step = 0; step < steps; ++step) {
    const int here = stage * Feeder::stage_size;
    const int before = stage == 0 ? Layout::stages - 1 : stage - 1;
    stage = stage + 1 == Layout::stages ? 0 : stage + 1;
#pragma unroll
    for (int l = 0; l < substeps; ++l) {
      if (l + 1 < substeps) {
        at[(l + 1) % 2].template read<a_shape, b_shape>(a_first + here, b_first + here,
                                                        (l + 1) * 4 * Layout::quads);
      } else {
        // The next stage has come, and everyone has read the last of this one.
        __pipeline_wait_prior(Layout::stages - 2);
        __syncthreads();
        const int next = stage * Feeder::stage_size;
        at[0].template read<a_shape, b_shape>(a_first + next, b_first + next, 0);
      }
      if (l == 0) feeder.fetch(before);
      at[l % 2].multiply_add(sum);
    }
  }
}

}  // namespace gpu::kernels
