#include "cpu/binary_matmul/binary_matmul.hpp"

#include <algorithm>

#include "base/bit_terms.hpp"
#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/binary_matmul/blocks.hpp"
#include "cpu/binary_matmul/count.hpp"
#include "cpu/binary_matmul/rows.hpp"
#include "cpu/binary_matmul/tiles.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "cpu/platform/large_pages.hpp"
#include "plan/memory/staging.hpp"

namespace gpu::cpu {
namespace {

// Rows of b that stay in the first-level cache while rows of a are read, and rows of a that stay in
// the second-level cache while blocks of b are read: the lower of a count and a size.
constexpr index_t block_bytes = 16 * 1024;
constexpr index_t most_block_cols = 64;
constexpr index_t strip_bytes = 128 * 1024;
constexpr index_t most_strip_rows = 64;
constexpr index_t most_task_cols = 256;
// Words of pairs of rows that are compared between two polls of the call's progress.
constexpr index_t words_per_poll = index_t{1} << 20;

// Rows of `row_words` that fit `bytes`: a multiple of bit_block, at most `most`.
index_t fitting_rows(index_t bytes, index_t row_words, index_t most) {
  const index_t fitting = bytes / (std::max<index_t>(row_words, 1) * 8);
  return std::clamp<index_t>(fitting / bit_block * bit_block, bit_block, most);
}

// A product of prepared operands by the loops that count.
struct counted_product {
  const bit_operand& left;
  const bit_operand& right;
  int scale;
  matrix_view<std::int32_t> out;
  const bit_kernels& kernels = usable_bit_kernels();

  // Rows [row, end_row) by columns [col, col + cols), both from multiples of bit_block.
  void fill(index_t row, index_t end_row, index_t col, index_t cols) const {
    const index_t whole = cols / bit_block * bit_block;
    for (index_t i = row; i < end_row; i += bit_block) {
      const index_t rows = std::min<index_t>(bit_block, end_row - i);
      if (rows == bit_block) {
        multiply(i, col, whole, out.row(i) + col, out.row_stride());
        if (whole < cols) fill_edge(i, rows, col + whole, cols - whole);
      } else {
        for (index_t j = 0; j < cols; j += bit_block) {
          fill_edge(i, rows, col + j, std::min<index_t>(bit_block, cols - j));
        }
      }
    }
  }

  // As fill, of at most bit_block rows and columns: what is past the end is computed as well.
  void fill_edge(index_t row, index_t rows, index_t col, index_t cols) const {
    std::int32_t block[bit_block * bit_block];
    multiply(row, col, bit_block, block, bit_block);
    for (index_t i = 0; i < rows; ++i) {
      std::copy_n(block + i * bit_block, cols, out.row(row + i) + col);
    }
  }

  void multiply(index_t row, index_t col, index_t cols, std::int32_t* to, index_t stride) const {
    kernels.multiply(left.from(row), right.from(col), cols,
                     {scale, left.offsets(row), right.offsets(col)}, to, stride);
  }
};

}  // namespace

const bit_kernels& usable_bit_kernels() {
#if defined(__x86_64__)
  const instruction_set level = usable_instruction_set();
  if (level >= instruction_set::avx512 && __builtin_cpu_supports("avx512vpopcntdq")) {
    return avx512_bit_kernels;
  }
  if (level >= instruction_set::avx2) return avx2_bit_kernels;
#endif
  return baseline_bit_kernels;
}

template <class T>
void pack_bits(matrix_view<const T> data, mutable_bit_matrix_view bits, T threshold, int threads) {
  constexpr index_t rows_at_once = 64;
  const index_t tasks = (data.rows() + rows_at_once - 1) / rows_at_once;
  detail::parallel_for(tasks, detail::thread_count(threads), [&](index_t task, int) {
    const index_t end = std::min(data.rows(), (task + 1) * rows_at_once);
    for (index_t i = task * rows_at_once; i < end; ++i) {
      const T* values = data.row(i);
      for (index_t word = 0; word < bit_words(data.cols()); ++word) {
        const index_t count = std::min<index_t>(32, data.cols() - word * 32);
        std::uint32_t packed = 0;
        for (index_t bit = 0; bit < count; ++bit) {
          packed |= static_cast<std::uint32_t>(values[word * 32 + bit] >= threshold) << bit;
        }
        bits.row(i)[word] = packed;
      }
    }
  });
}

template void pack_bits(matrix_view<const std::int8_t>, mutable_bit_matrix_view, std::int8_t, int);
template void pack_bits(matrix_view<const std::int16_t>, mutable_bit_matrix_view, std::int16_t,
                        int);
template void pack_bits(matrix_view<const std::int32_t>, mutable_bit_matrix_view, std::int32_t,
                        int);
template void pack_bits(matrix_view<const std::uint8_t>, mutable_bit_matrix_view, std::uint8_t,
                        int);
template void pack_bits(matrix_view<const std::uint16_t>, mutable_bit_matrix_view, std::uint16_t,
                        int);
template void pack_bits(matrix_view<const float>, mutable_bit_matrix_view, float, int);
template void pack_bits(matrix_view<const double>, mutable_bit_matrix_view, double, int);

namespace {

void multiply(bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
              bit_product product, int team) {
  // A result whose rows follow each other is fresh memory of the caller.
  if (out.row_stride() == out.cols()) {
    advise_large_pages(out.data(),
                       static_cast<std::size_t>(out.rows() * out.cols()) * sizeof(std::int32_t));
  }
  const detail::bit_terms terms = detail::terms_of(product, a.cols());
#if defined(__x86_64__)
  if (tiles_pay(out.rows(), out.cols(), a.cols())) {
    const bit_operand left(a, tile_block, terms.per_one, terms.constant, team);
    const bit_operand right(b, tile_block, terms.per_one, 0, team);
    multiply_on_tiles(left, right, terms.scale, out, team);
    return;
  }
#endif
  const bit_operand left(a, bit_block, terms.per_one, terms.constant, team);
  const bit_operand right(b, bit_block, terms.per_one, 0, team);
  const counted_product work{left, right, terms.scale, out};

  const index_t strip = fitting_rows(strip_bytes, left.row_words(), most_strip_rows);
  const index_t block = fitting_rows(block_bytes, left.row_words(), most_block_cols);
  const index_t block_words = strip * block * std::max<index_t>(left.row_words(), 1);
  const index_t poll_cols = block * std::max<index_t>(1, words_per_poll / block_words);
  product_shares(out, bit_block, most_task_cols, team)
      .for_each(
          out, team, [&](index_t row, index_t end_row, index_t first_col, index_t end_col, int) {
            for (index_t i = row; i < end_row; i += strip) {
              for (index_t col = first_col; col < end_col; col += block) {
                if ((col - first_col) % poll_cols == 0) detail::poll_progress();
                work.fill(i, std::min(end_row, i + strip), col, std::min(block, end_col - col));
              }
            }
          });
}

// What a product takes beside its operands: prepared copies of them, the right one twice and sums
// of each thread where tiles multiply.
std::size_t scratch_bytes(index_t rows, index_t cols, index_t bits, int threads) {
  const auto copy = [&](index_t count) { return bit_operand::bytes_of(count, bits); };
  std::size_t bytes = copy(rows) + copy(cols);
#if defined(__x86_64__)
  if (tiles_pay(rows, cols, bits)) {
    bytes += copy(cols) + static_cast<std::size_t>(threads) * tile_scratch_bytes;
  }
#else
  static_cast<void>(threads);
#endif
  return bytes;
}

}  // namespace

void binary_matmul(bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
                   bit_product product, const execution& exec) {
  if (out.empty()) return;
  const int team = detail::thread_count(exec.cpu_threads);
  if (exec.workspace_bytes == 0) return multiply(a, b, out, product, team);
  const detail::staging_plan plan = detail::plan_staging(
      {.what = "binary_matmul of one row of a",
       .rows = a.rows(),
       .batch_bytes = [&](index_t rows) { return scratch_bytes(rows, b.rows(), a.cols(), team); }},
      {.limit = exec.workspace_bytes});
  for (index_t first = 0; first < a.rows(); first += plan.batch_rows) {
    const index_t rows = std::min(plan.batch_rows, a.rows() - first);
    multiply({a.row(first), rows, a.cols(), a.row_words()}, b,
             {out.row(first), rows, out.cols(), out.row_stride()}, product, team);
  }
}

}  // namespace gpu::cpu
