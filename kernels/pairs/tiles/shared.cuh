#pragma once
// Variant shared_tiled: rows prepared once, tiles of both operands in shared memory, registers hold
// a grid of products per thread.
//
// A block of 16 x 16 threads takes a tile of rows x cols pairs. Shared memory holds
// `columns_per_step` words of each row of both operands, transposed: [word][row], so that a thread
// reads its slots of one word as vectors of four. Slots are four neighbouring rows (columns) per
// group, groups 64 apart: a warp reads 2 and 16 different vectors a word, free of bank conflicts.
// A word is 4 int8 (dp4a) or a double.

#include <type_traits>

#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/kernel.cuh"

namespace gpu::kernels {

/// int8 through dp4a; sums below 2^24 (cols <= 128).
struct int8_arithmetic {
  static constexpr policy::tile_layout shape = policy::shared_int8;
  using statistic = spearman_statistic;
  using word = int;  // four elements
  using sum = int;
  using fragment = float_fragment<shape.row_slots, shape.col_slots>;
  static constexpr int elements_per_word = 4;
  static __device__ sum add(word x, word y, sum s) { return __dp4a(x, y, s); }
  static __device__ float finish(sum s) { return __int2float_rn(s); }
};

/// Unit rows in double; the eight partial sums of a row follow each other, see unit_row_layout.
struct double_arithmetic {
  static constexpr policy::tile_layout shape = policy::shared_double;
  using statistic = pearson_statistic;
  using word = double;
  using sum = double;
  using fragment = unit_fragment<double, shape.row_slots, shape.col_slots>;
  static constexpr int elements_per_word = 1;
  static __device__ sum add(word x, word y, sum s) { return fma(x, y, s); }
  static __device__ double finish(sum s) { return s; }
};

template <class Arithmetic>
class shared_tile {
 public:
  static constexpr policy::tile_layout shape = Arithmetic::shape;
  using statistic = typename Arithmetic::statistic;
  using fragment = typename Arithmetic::fragment;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) {
    return sizeof(word) * step * (shape.rows + shape.cols);
  }
  __device__ shared_tile(const pair_panel& panel, unsigned char* shared)
      : panel_(panel),
        row_words_(reinterpret_cast<word*>(shared)),
        col_words_(row_words_ + step * shape.rows),
        words_(static_cast<int>(panel.rows.columns / Arithmetic::elements_per_word)) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    first_row_ = first_row;
    columns_ = columns;
  }
  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    read_inverse_norms(panel_.cols, columns_, *this, at, inverse);
  }

  __device__ void multiply(int at, fragment& out) {
    sum sums[shape.row_slots][shape.col_slots] = {};
    folding fold(words_);
    for (int first = 0; first < words_; first += step) {
      __syncthreads();
      fill<shape.rows>(panel_.rows, first_row_, first, row_words_);
      fill<shape.cols>(panel_.cols, columns_.first + at, first, col_words_);
      __syncthreads();
      const int here = min(step, words_ - first);
      if constexpr (folds) {
        for (int w = 0; w < here; ++w) {
          accumulate(w, sums);
          fold.step(sums);
        }
      } else {
#pragma unroll
        for (int w = 0; w < step; ++w) accumulate(w, sums);  // words past the end are 0
      }
    }
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) out.value[r][c] = Arithmetic::finish(sums[r][c]);
    }
  }

  __device__ int row_of(int slot) const {
    return static_cast<int>(threadIdx.x / 16) * 4 + slot % 4 + slot / 4 * 64;
  }
  __device__ int col_of(int slot) const {
    return static_cast<int>(threadIdx.x % 16) * 4 + slot % 4 + slot / 4 * 64;
  }

  // 16 lanes share a row slot, 2 a column slot.
  template <class Count, class Add>
  __device__ void add_rows(Count (&counts)[shape.row_slots], const Add& add) const {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
      counts[r] = group_sum<16>(counts[r]);
      if (threadIdx.x % 16 == 0) add(row_of(r), counts[r]);
    }
  }
  template <class Counts, class Add>
  __device__ void add_cols(Counts& counts, const Add& add) const {
    counts.add_lane(16);
    if (threadIdx.x % 32 >= 16) return;
#pragma unroll
    for (int c = 0; c < shape.col_slots; ++c) add(col_of(c), counts.of(c));
  }

 private:
  using word = typename Arithmetic::word;
  using sum = typename Arithmetic::sum;
  static constexpr int step = shape.columns_per_step;
  static constexpr bool folds = std::is_same_v<Arithmetic, double_arithmetic>;
  static_assert(shape.threads == 256 && shape.rows == 16 * shape.row_slots &&
                shape.cols == 16 * shape.col_slots);

  // Ends a slice of a partial sum of every product where it ends, and the partial sum where its
  // segment ends; for integers there is nothing to do.
  class folding {
   public:
    __device__ explicit folding(int words) : length_(words / detail::partial_sums) {
      if constexpr (folds) slice_ = left_ = static_cast<int>(slice_of_segment(length_));
    }
    __device__ void step(sum (&sums)[shape.row_slots][shape.col_slots]) {
      if constexpr (folds) {
        if (--left_ > 0) return;
        const bool is_first = done_ == 0;
        done_ = min(done_ + slice_, length_);
        const bool ends = done_ == length_;
#pragma unroll
        for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
          for (int c = 0; c < shape.col_slots; ++c) {
            const double all = is_first ? sums[r][c] : slices_[r][c] + sums[r][c];
            slices_[r][c] = all;
            sums[r][c] = 0;
            if (!ends) continue;
            const double total = trees_[r][c].add(segment_, all);
            if (segment_ == detail::partial_sums - 1) sums[r][c] = total;
          }
        }
        if (ends) {
          ++segment_;
          done_ = 0;
        }
        left_ = min(slice_, length_ - done_);
      }
    }

   private:
    static constexpr int kept_rows = folds ? shape.row_slots : 1;
    static constexpr int kept_cols = folds ? shape.col_slots : 1;
    int length_;
    int slice_ = 0;
    int left_ = 0;  // of the slice
    int done_ = 0;  // of the segment
    int segment_ = 0;
    double slices_[kept_rows][kept_cols];
    partial_sum_tree trees_[kept_rows][kept_cols];
  };

  // Words [first, first + step) of `Rows` rows of an operand, transposed.
  template <int Rows>
  __device__ void fill(const pair_operand& side, index_t first_row, int first, word* out) const {
    for (int at = static_cast<int>(threadIdx.x); at < Rows * step; at += shape.threads) {
      const int row = at / step;
      const int w = at % step;
      word value = 0;
      if (first_row + row < side.count && first + w < words_) {
        const auto* words = static_cast<const word*>(side.values);
        value = words[(first_row + row) * (side.pitch / Arithmetic::elements_per_word) + first + w];
      }
      out[w * Rows + row] = value;
    }
  }

  __device__ void accumulate(int w, sum (&sums)[shape.row_slots][shape.col_slots]) const {
    word rows[shape.row_slots];
    word cols[shape.col_slots];
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) rows[r] = row_words_[w * shape.rows + row_of(r)];
#pragma unroll
    for (int c = 0; c < shape.col_slots; ++c) cols[c] = col_words_[w * shape.cols + col_of(c)];
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) {
        sums[r][c] = Arithmetic::add(rows[r], cols[c], sums[r][c]);
      }
    }
  }

  const pair_panel& panel_;
  word* row_words_;
  word* col_words_;
  int words_;
  index_t first_row_ = 0;
  column_span columns_{};
};

}  // namespace gpu::kernels
