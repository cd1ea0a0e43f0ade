// Pearson in double on tensor cores, with every sink: products are exact, so nothing is decided
// anew. For devices whose tensor cores multiply doubles at full rate.
//
// A block of 8 warps (4 x 2) takes 64 x 64 pairs, a warp 16 x 32. Both operands stream by cp.async
// through a ring of buffers, 16 elements of a row (unit_row_layout) at a time; the first ones of
// the next tile are under way while a sink takes this one. A partial sum is a chain of fused
// multiply-adds in the order of the elements, so a product of four elements that reach into the
// next segment is computed for each of the two, with zeros for the elements of the other.
// partial_sum_tree adds the eight sums. There are no registers left for those of slices: rows are
// at most detail::most_whole_columns long.

#include "kernels/common/async_copy.cuh"
#include "kernels/common/tensor_double.cuh"
#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/mma.cuh"

namespace gpu::kernels {
namespace {

class tensor_double_tile : public mma_layout<4, 2, 1, 4> {
 public:
  static constexpr policy::tile_layout shape = policy::tensor_double;
  using statistic = pearson_statistic;
  using fragment = unit_fragment<double, shape.row_slots, shape.col_slots>;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) {
    return sizeof(double) * stages * stage_size;
  }
  __device__ tensor_double_tile(const pair_panel& panel, unsigned char* shared)
      : panel_(panel),
        shared_(reinterpret_cast<double*>(shared)),
        elements_(static_cast<int>(panel.rows.pitch)),
        segment_(elements_ / detail::partial_sums),
        steps_((elements_ + step - 1) / step) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    columns_ = columns;
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      const index_t row = first_row + copied_row(i);
      has_row_[i] = row < panel_.rows.count;
      rows_[i] = place_in(panel_.rows, has_row_[i] ? row : 0);
    }
    next_tile();
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) fetch();
  }
  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    read_inverse_norms(panel_.cols, columns_, *this, at, inverse);
  }

  __device__ void multiply(int, fragment& out) {
    partial_sum_tree trees[col_tiles][4];
    double sums[col_tiles][4] = {};
    int segment = 0;
    int end = segment_;
    for (int first = 0; first < elements_; first += step) {
      async_copy_wait<stages - 2>();
      __syncthreads();
      fetch();
      if (first + step < end) {
#pragma unroll
        for (int q = 0; q < step / 4; ++q) {
          double a[1][2];
          double b[col_tiles][1];
          read(q, a[0], b);
#pragma unroll
          for (int c = 0; c < col_tiles; ++c) multiply_add_f64<1>(sums[c], a, b[c]);
        }
      } else {
#pragma unroll 1
        for (int q = 0; q < step / 4; ++q) {
          const int mine = first + 4 * q + quad_lane();
          int begin = first + 4 * q;
          double a[2];
          double b[col_tiles][1];
          read(q, a, b);
          const int last = min(begin + 4, elements_);
          while (begin < last) {
            const int stop = min(end, last);
            const bool there = mine >= begin && mine < stop;
            const double here[1][2] = {{there ? a[0] : 0, there ? a[1] : 0}};
#pragma unroll
            for (int c = 0; c < col_tiles; ++c) multiply_add_f64<1>(sums[c], here, b[c]);
            begin = stop;
            if (stop != end) continue;
            fold(segment, sums, trees);
            ++segment;
            end += segment_;
          }
        }
      }
      read_ = read_ == stages - 1 ? 0 : read_ + 1;
    }
#pragma unroll
    for (int c = 0; c < col_tiles; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) out.value[e / 2][2 * c + e % 2] = sums[c][e];
    }
  }

 private:
  static constexpr int step = shape.columns_per_step;
  static constexpr int stages = 4;
  // Neighbouring elements of four rows meet in no bank.
  static constexpr int pitch = step + 4;
  static constexpr int row_buffer = shape.rows * pitch;
  static constexpr int stage_size = row_buffer + shape.cols * pitch;
  static constexpr int col_tiles = shape.col_slots / 2;
  static constexpr int pieces = step / 2;  // of 16 bytes
  static constexpr int rows_of_pass = shape.threads / pieces;
  static constexpr int passes = shape.rows / rows_of_pass;
  static_assert(shape.rows == shape.cols && passes * rows_of_pass == shape.rows);

  static __device__ int copied_row(int pass) {
    return static_cast<int>(threadIdx.x) / pieces + pass * rows_of_pass;
  }
  static __device__ int copied_element() { return static_cast<int>(threadIdx.x) % pieces * 2; }
  [[nodiscard]] static __device__ const double* place_in(const pair_operand& side, index_t row) {
    return static_cast<const double*>(side.values) + row * side.pitch + copied_element();
  }

  // The columns that are fetched from now on: those of the tile at fetched_, if there is one.
  __device__ void next_tile() {
    fetched_step_ = 0;
    if (fetched_ >= columns_.length) return;
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      const index_t col = columns_.first + fetched_ + copied_row(i);
      has_col_[i] = col < panel_.cols.count;
      cols_[i] = place_in(panel_.cols, has_col_[i] ? col : 0);
    }
  }
  // Begins to bring the next step, into the buffer that was read last.
  __device__ void fetch() {
    if (fetched_ < columns_.length) {
      const int offset = fetched_step_ * step;
      const bool inside = offset + copied_element() < elements_;
      double* const to = shared_ + filled_ * stage_size + copied_row(0) * pitch + copied_element();
#pragma unroll
      for (int i = 0; i < passes; ++i) {
        double* const row = to + i * rows_of_pass * pitch;
        async_copy_16(row, inside ? rows_[i] + offset : rows_[i], inside && has_row_[i]);
        async_copy_16(row + row_buffer, inside ? cols_[i] + offset : cols_[i],
                      inside && has_col_[i]);
      }
      filled_ = filled_ == stages - 1 ? 0 : filled_ + 1;
      if (++fetched_step_ == steps_) {
        fetched_ += shape.cols;
        next_tile();
      }
    }
    async_copy_commit();
  }

  // The lane's elements of four in the buffer that is read.
  __device__ void read(int q, double (&a)[2], double (&b)[col_tiles][1]) const {
    const double* const at = shared_ + read_ * stage_size + quad() * pitch + 4 * q + quad_lane();
    const double* const rows = at + first_row() * pitch;
    const double* const cols = at + row_buffer + first_col() * pitch;
    a[0] = rows[0];
    a[1] = rows[8 * pitch];
#pragma unroll
    for (int c = 0; c < col_tiles; ++c) b[c][0] = cols[8 * c * pitch];
  }

  // Ends a partial sum, and begins the next one; after the last, `sums` are the totals.
  static __device__ void fold(int segment, double (&sums)[col_tiles][4],
                              partial_sum_tree (&trees)[col_tiles][4]) {
#pragma unroll
    for (int c = 0; c < col_tiles; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const double total = trees[c][e].add(segment, sums[c][e]);
        sums[c][e] = segment == detail::partial_sums - 1 ? total : 0;
      }
    }
  }

  const pair_panel& panel_;
  double* shared_;
  int elements_;  // of a row
  int segment_;
  int steps_;
  column_span columns_{};
  const double* rows_[passes];
  const double* cols_[passes];
  bool has_row_[passes];
  bool has_col_[passes];
  int fetched_ = 0;  // the tile of columns that is fetched
  int fetched_step_ = 0;
  int filled_ = 0;  // the buffer that the next fetch fills
  int read_ = 0;    // the buffer that is read
};

}  // namespace

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::tensor_double, tensor_double_tile);

}  // namespace gpu::kernels
