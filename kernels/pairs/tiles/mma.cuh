#pragma once
// Variant tensor for short rows: mma.sync on int8 ranks of up to 128 columns, exact in int32, and
// on unit rows of up to 64 columns in half precision, as estimates.
//
// A block of 8 warps (4 x 2) takes 128 x 64 pairs, a warp 32 x 32: 2 x 4 mma tiles, 32 sums a
// thread. The rows stay in shared memory while the block walks its columns; those stream, 8 KiB
// with their norms at a time, through a ring of buffers by cp.async.
//
// A k step is 32 bytes of a row. A dot product does not care about the order of k: lane t of a quad
// takes bytes 16 t .. 16 t + 15 of a 64-byte piece for two k steps (8 t .. 8 t + 7 of a 32-byte row
// for one), so a fragment is one 128-bit (64-bit) load. In 128-byte rows the two halves of odd rows
// are exchanged, which keeps those loads free of bank conflicts.

#include "kernels/common/async_copy.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/frame/kernel.cuh"

namespace gpu::kernels {

/// Slots and their sums over lanes of an mma.sync m16n8 grid: RowTiles x ColTiles a warp.
template <int WarpRows, int WarpCols, int RowTiles, int ColTiles>
class mma_layout {
 public:
  static constexpr int row_slots = 2 * RowTiles;
  static constexpr int col_slots = 2 * ColTiles;

  __device__ mma_layout()
      : lane_(static_cast<int>(threadIdx.x % 32)),
        warp_row_(static_cast<int>(threadIdx.x / 32) / WarpCols),
        warp_col_(static_cast<int>(threadIdx.x / 32) % WarpCols) {}

  [[nodiscard]] __device__ int quad() const { return lane_ / 4; }
  [[nodiscard]] __device__ int quad_lane() const { return lane_ % 4; }
  [[nodiscard]] __device__ int first_row() const { return warp_row_ * RowTiles * 16; }
  [[nodiscard]] __device__ int first_col() const { return warp_col_ * ColTiles * 8; }
  [[nodiscard]] __device__ int row_of(int slot) const {
    return first_row() + slot / 2 * 16 + slot % 2 * 8 + quad();
  }
  [[nodiscard]] __device__ int col_of(int slot) const {
    return first_col() + slot / 2 * 8 + quad_lane() * 2 + slot % 2;
  }

  // The 4 lanes of a quad share a row slot.
  template <class Count, class Add>
  __device__ void add_rows(Count (&counts)[row_slots], const Add& add) const {
#pragma unroll
    for (int r = 0; r < row_slots; ++r) {
      counts[r] += __shfl_xor_sync(0xffffffffu, counts[r], 1);
      counts[r] += __shfl_xor_sync(0xffffffffu, counts[r], 2);
      if (quad_lane() == 0) add(row_of(r), counts[r]);
    }
  }
  // The 8 quads share a column slot; each hands on the sum of one of the 8.
  template <class Counts, class Add>
  __device__ void add_cols(Counts& counts, const Add& add) const {
    static_assert(col_slots == 8);
    counts.add_lane(4);
    counts.add_lane(8);
    counts.add_lane(16);
    add(col_of(quad()), counts.of(quad()));
  }

 private:
  int lane_;
  int warp_row_;
  int warp_col_;
};

/// Products of int8 ranks. The sums start at the bits of the float 1.5 * 2^23, so that after the
/// products the same bits read as a float are 1.5 * 2^23 + sum, exactly (|sum| < 2^20): one FADD
/// replaces the slower conversion.
struct int8_products {
  static constexpr policy::tile_layout shape = policy::tensor_int8;
  using statistic = spearman_statistic;
  using fragment = float_fragment<shape.row_slots, shape.col_slots>;
  using sum = int;
  static constexpr sum start = 0x4b400000;

  static __device__ float product(sum value) { return __int_as_float(value) - 12582912.0f; }

  /// d += a * b of one m16n8k32 step.
  static __device__ void multiply(sum (&d)[4], const int (&a)[4], const int (&b)[2]) {
    mma_s8(d, a, b);
  }
};

/// Products of unit rows in half precision, with sums in single precision; half_margin
/// (kernels/pairs/kernels.hpp) bounds their error.
struct half_products {
  static constexpr policy::tile_layout shape = policy::tensor_half;
  using statistic = refined_pearson_statistic;
  using fragment = unit_fragment<float, shape.row_slots, shape.col_slots>;
  using sum = float;
  static constexpr sum start = 0;

  static __device__ float product(sum value) { return value; }

  /// d += a * b of one m16n8k16 step.
  static __device__ void multiply(sum (&d)[4], const int (&a)[4], const int (&b)[2]) {
    mma_half(d, a, b);
  }
};

/// Rows of 32 * KSteps bytes.
template <class Products, int KSteps>
class short_row_tile : public mma_layout<4, 2, 2, 4> {
 public:
  static constexpr policy::tile_layout shape = Products::shape;
  using statistic = typename Products::statistic;
  using fragment = typename Products::fragment;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) {
    return row_bytes * shape.rows + ring_stages() * stage_bytes;
  }
  __device__ short_row_tile(const pair_panel& panel, unsigned char* shared)
      : panel_(panel), row_data_(shared), stage_data_(shared + row_bytes * shape.rows) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    columns_ = columns;
    copy_rows<shape.rows>(panel_.rows, first_row, row_data_);
    load_stage(0, stage_data_);
    async_copy_commit();
  }

  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    const auto* norms = reinterpret_cast<const float4*>(here_ + stage_cols * row_bytes);
#pragma unroll
    for (int c = 0; c < shape.col_slots; c += 2) {
      const float4 two = norms[(at % stage_cols + col_of(c)) / 2];  // norm, inverse, norm, inverse
      inverse[c] = two.y;
      inverse[c + 1] = two.w;
    }
  }

  __device__ void multiply(int at, fragment& out) {
    if (at % stage_cols == 0) next_stage(at);
    const unsigned char* here = here_ + at % stage_cols * row_bytes;

    sum_type sums[2][4][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] = Products::start;
      }
    }
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) accumulate(here, piece, sums);
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) {
        out.value[r][c] = Products::product(sums[r / 2][c / 2][r % 2 * 2 + c % 2]);
      }
    }
  }

 private:
  using sum_type = typename Products::sum;
  static constexpr int row_bytes = 32 * KSteps;
  // Columns that come with one barrier, with their norms behind them.
  static constexpr int stage_cols = 256 / KSteps;
  static constexpr int stage_bytes = stage_cols * (row_bytes + static_cast<int>(sizeof(row_norm)));
  static constexpr int steps_per_piece = KSteps == 1 ? 1 : 2;
  static constexpr int pieces = KSteps / steps_per_piece;
  static_assert(KSteps == 1 || KSteps == 2 || KSteps == 4);

  // Where the 16-byte chunk `chunk` of a row lies.
  static __device__ int chunk_offset(int row, int chunk) {
    return row * row_bytes + (KSteps == 4 ? chunk ^ (row % 2 * 4) : chunk) * 16;
  }

  // Waits for the stage that begins at column `at` and begins to load the one behind it. In a ring
  // of three that goes where the stage before last was, which every thread has left: it passed a
  // barrier since.
  __device__ void next_stage(int at) {
    here_ = stage_data_ + stage_ * stage_bytes;
    stage_ = stage_ + 1 == ring_stages() ? 0 : stage_ + 1;
    if (ring_stages() == 2) __syncthreads();
    if (at + stage_cols < columns_.length) {
      load_stage(at + stage_cols, stage_data_ + stage_ * stage_bytes);
    }
    async_copy_commit();
    async_copy_wait<1>();
    __syncthreads();
  }

  __device__ void load_stage(int at, unsigned char* out) const {
    copy_rows<stage_cols>(panel_.cols, columns_.first + at, out);
    auto* norms = reinterpret_cast<row_norm*>(out + stage_cols * row_bytes);
    for (int c = static_cast<int>(threadIdx.x); c < stage_cols; c += shape.threads) {
      if (at + c < columns_.length) {
        async_copy_element(norms + c, panel_.cols.norms + columns_.first + at + c);
      } else {
        norms[c] = {CUDART_NAN_F, CUDART_NAN_F};
      }
    }
  }

  template <int Rows>
  __device__ static void copy_rows(const pair_operand& side, index_t first, unsigned char* out) {
    constexpr int chunks = row_bytes / 16;
    const auto* data = static_cast<const unsigned char*>(side.values);
#pragma unroll
    for (int at = 0; at < (Rows * chunks + shape.threads - 1) / shape.threads; ++at) {
      const int piece = at * shape.threads + static_cast<int>(threadIdx.x);
      if (Rows * chunks % shape.threads != 0 && piece >= Rows * chunks) break;
      const int row = piece / chunks;
      const int chunk = piece % chunks;
      const bool there = first + row < side.count;
      const unsigned char* from = data + (there ? (first + row) * row_bytes + chunk * 16 : 0);
      async_copy_16(out + chunk_offset(row, chunk), from, there);
    }
  }

  // The words of one row that this lane feeds to the k steps of a piece: 2 a step.
  __device__ void load(const unsigned char* data, int row, int piece,
                       int (&out)[2 * steps_per_piece]) const {
    if constexpr (KSteps == 1) {
      const int2 words = *reinterpret_cast<const int2*>(data + row * row_bytes + quad_lane() * 8);
      out[0] = words.x;
      out[1] = words.y;
    } else {
      const int4 words =
          *reinterpret_cast<const int4*>(data + chunk_offset(row, piece * 4 + quad_lane()));
      out[0] = words.x;
      out[1] = words.y;
      out[2] = words.z;
      out[3] = words.w;
    }
  }

  __device__ void accumulate(const unsigned char* cols, int piece,
                             sum_type (&sums)[2][4][4]) const {
    int a[2][2][2 * steps_per_piece];
    int b[4][2 * steps_per_piece];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load(row_data_, first_row() + i * 16 + quad(), piece, a[i][0]);
      load(row_data_, first_row() + i * 16 + 8 + quad(), piece, a[i][1]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) load(cols, first_col() + j * 8 + quad(), piece, b[j]);
#pragma unroll
    for (int s = 0; s < steps_per_piece; ++s) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int rows[4] = {a[i][0][2 * s], a[i][1][2 * s], a[i][0][2 * s + 1],
                             a[i][1][2 * s + 1]};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int columns[2] = {b[j][2 * s], b[j][2 * s + 1]};
          Products::multiply(sums[i][j], rows, columns);
        }
      }
    }
  }

  const pair_panel& panel_;
  unsigned char* row_data_;
  unsigned char* stage_data_;
  const unsigned char* here_ = nullptr;
  column_span columns_{};
  int stage_ = 0;
};

}  // namespace gpu::kernels
