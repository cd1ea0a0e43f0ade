#pragma once
// The tiles products_*: products that are in memory, handed to any sink.
//
// A block takes 32 rows of products by 64 columns at a time; lane l of warp w holds columns l and
// l + 32 of rows 4 w to 4 w + 3. Where products lie column by column, the block turns them round in
// shared memory.

#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/prepare/half_rows.hpp"

namespace gpu::kernels {

/// Sums of several pairs from their parts: `at` are the places of their first ones. What is read at
/// a time is independent, because the loads take longer than all arithmetic.
class unit_products {
 public:
  using sum = double;
  static constexpr int walked_tiles = 4;  // that a block takes one after the other
  using statistic = pearson_statistic;
  template <int rows, int cols>
  using fragment = unit_fragment<double, rows, cols>;

  template <int count>
  static __device__ void add_up(const product_memory& from, const index_t (&at)[count],
                                double (&out)[count]) {
    if (from.parts == detail::partial_sums) {
      add_up_parts<detail::partial_sums>(from, at, out);
    } else {
      add_up_parts<detail::partial_sums / 2>(from, at, out);  // neighbours are added already
    }
  }
  static __device__ double finish(double sum) { return sum; }

 private:
  template <int parts, int count>
  static __device__ void add_up_parts(const product_memory& from, const index_t (&at)[count],
                                      double (&out)[count]) {
    partial_sum_tree trees[count];
#pragma unroll
    for (int s = 0; s < parts; ++s) {
      const double* const sums = from.sums + s * from.part_step;
#pragma unroll
      for (int i = 0; i < count; ++i) out[i] = trees[i].add(s, sums[at[i]]);
    }
  }
};
/// The same in single precision, of rows split into halves.
struct half_products {
  using sum = double;
  static constexpr int walked_tiles = 1;
  using statistic = pearson_statistic;
  template <int rows, int cols>
  using fragment = unit_fragment<double, rows, cols>;

  template <int count>
  static __device__ void add_up(const product_memory& from, const index_t (&at)[count],
                                double (&out)[count]) {
    const auto* const sums = reinterpret_cast<const float*>(from.sums);
#pragma unroll
    for (int i = 0; i < count; ++i) out[i] = static_cast<double>(sums[at[i]]);
    for (int p = 1; p < from.parts; ++p) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        out[i] += static_cast<double>(sums[p * from.part_step + at[i]]);
      }
    }
  }
  static __device__ double finish(double sum) { return sum * (1 / (half_scale * half_scale)); }
};
/// The same as estimates, where a sink asks for exact decisions.
struct half_estimates : half_products {
  using statistic = refined_pearson_statistic;
};
/// Statistics of rows with missing values, as they are; NaN where product_memory::kept has no bit.
struct ready_statistics {
  using sum = double;
  static constexpr int walked_tiles = 4;
  using statistic = ready_statistic;
  template <int rows, int cols>
  using fragment = unit_fragment<double, rows, cols>;

  template <int count>
  static __device__ void add_up(const product_memory& from, const index_t (&at)[count],
                                double (&out)[count]) {
    if (from.kept == nullptr) {
#pragma unroll
      for (int i = 0; i < count; ++i) out[i] = from.sums[at[i]];
      return;
    }
    bool is_kept[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      is_kept[i] = (from.kept[at[i] / places_of_word] >> (at[i] % places_of_word) & 1U) != 0;
    }
#pragma unroll
    for (int i = 0; i < count; ++i) out[i] = is_kept[i] ? from.sums[at[i]] : detail::no_statistic;
  }
  static __device__ double finish(double statistic) { return statistic; }
};
/// Limbs of centred ranks: 32-bit sums of every pair of limbs.
template <int limbs>
struct limb_products {
  using sum = std::int64_t;
  static constexpr int walked_tiles = 4;
  using statistic = spearman_statistic;
  template <int rows, int cols>
  using fragment = integer_fragment<rows, cols>;

  template <int count>
  static __device__ void add_up(const product_memory& from, const index_t (&at)[count],
                                sum (&out)[count]) {
    const auto* const first = reinterpret_cast<const std::int32_t*>(from.sums);
    const int splits = from.parts / (limbs * limbs);
#pragma unroll
    for (int i = 0; i < count; ++i) out[i] = 0;
    for (int s = 0; s < splits; ++s) {
#pragma unroll
      for (int a = 0; a < limbs; ++a) {
#pragma unroll
        for (int b = 0; b < limbs; ++b) {
          const std::int32_t* const sums = first + ((a * limbs + b) * splits + s) * from.part_step;
#pragma unroll
          for (int i = 0; i < count; ++i) {
            out[i] += sum{sums[at[i]]} * (sum{1} << policy::limb_bits * (a + b));
          }
        }
      }
    }
  }
  static __device__ sum finish(sum total) { return total; }
};

template <class Products>
class product_tile {
 public:
  static constexpr policy::tile_layout shape = policy::products;
  static constexpr int walked_tiles = Products::walked_tiles;
  using statistic = typename Products::statistic;
  using sum = typename Products::sum;
  using fragment = typename Products::template fragment<shape.row_slots, shape.col_slots>;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel& panel) {
    return panel.products.order == product_order::direct ? 0 : sizeof(sum) * shape.cols * pitch;
  }
  __device__ product_tile(const pair_panel& panel, unsigned char* shared)
      : panel_(panel), turned_(reinterpret_cast<sum*>(shared)) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    first_row_ = first_row;
    columns_ = columns;
  }
  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    read_inverse_norms(panel_.cols, columns_, *this, at, inverse);
  }

  __device__ void multiply(int at, fragment& out) {
    const index_t first_col = columns_.first + at;
    sum sums[slots];
    if (lies_turned(first_col)) {
      turn(first_col);
#pragma unroll
      for (int i = 0; i < slots; ++i) sums[i] = turned_[col_of(col(i)) * pitch + row_of(row(i))];
    } else {
      index_t places[slots];
#pragma unroll
      for (int i = 0; i < slots; ++i) {
        places[i] = place(first_row_ + row_of(row(i)), first_col + col_of(col(i)));
      }
      Products::add_up(panel_.products, places, sums);
    }
#pragma unroll
    for (int i = 0; i < slots; ++i) out.value[row(i)][col(i)] = Products::finish(sums[i]);
  }

  __device__ int row_of(int slot) const {
    return static_cast<int>(threadIdx.x / 32) * shape.row_slots + slot;
  }
  __device__ int col_of(int slot) const { return static_cast<int>(threadIdx.x % 32) + slot * 32; }

  // 32 lanes share a row slot, none a column slot.
  template <class Count, class Add>
  __device__ void add_rows(Count (&counts)[shape.row_slots], const Add& add) const {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
      counts[r] = warp_sum(counts[r]);
      if (threadIdx.x % 32 == 0) add(row_of(r), counts[r]);
    }
  }
  template <class Counts, class Add>
  __device__ void add_cols(Counts& counts, const Add& add) const {
#pragma unroll
    for (int c = 0; c < shape.col_slots; ++c) add(col_of(c), counts.of(c));
  }

 private:
  static constexpr int pitch = shape.rows + 1;
  static constexpr int warps = shape.threads / 32;
  static constexpr int slots = shape.row_slots * shape.col_slots;
  static __host__ __device__ constexpr int row(int slot) { return slot / shape.col_slots; }
  static __host__ __device__ constexpr int col(int slot) { return slot % shape.col_slots; }
  static_assert(shape.rows == 32 && shape.cols == 32 * shape.col_slots &&
                shape.rows == warps * shape.row_slots && shape.cols == warps * slots);
  static_assert(policy::product_block % shape.rows == 0 && policy::product_block % shape.cols == 0);

  // A tile lies in one block of products.
  [[nodiscard]] __device__ bool lies_turned(index_t first_col) const {
    const product_order order = panel_.products.order;
    return order == product_order::transposed ||
           (order == product_order::mirrored &&
            first_col / policy::product_block < first_row_ / policy::product_block);
  }
  // Where the sum of a pair is; that of another one where there is none.
  [[nodiscard]] __device__ index_t place(index_t i, index_t j) const {
    const product_memory& from = panel_.products;
    const bool there = i < panel_.rows.count && j < panel_.cols.count;
    return from.first + (there ? i * from.pitch + j : 0);
  }
  // Of a pair that lies column by column.
  [[nodiscard]] __device__ index_t turned_place(index_t i, index_t j) const {
    const product_memory& from = panel_.products;
    const bool there = i < panel_.rows.count && j < panel_.cols.count;
    return from.first + (there ? j * from.pitch + i : 0);
  }
  // Reads the tile column by column: lanes are rows. All threads.
  __device__ void turn(index_t first_col) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    index_t places[slots];
    sum sums[slots];
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      places[i] = turned_place(first_row_ + lane, first_col + warp + i * warps);
    }
    Products::add_up(panel_.products, places, sums);
    __syncthreads();  // the tile before has been read
#pragma unroll
    for (int i = 0; i < slots; ++i) turned_[(warp + i * warps) * pitch + lane] = sums[i];
    __syncthreads();
  }

  const pair_panel& panel_;
  sum* turned_;
  index_t first_row_ = 0;
  column_span columns_{};
};

}  // namespace gpu::kernels
