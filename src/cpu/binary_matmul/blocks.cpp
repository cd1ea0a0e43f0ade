#include "cpu/binary_matmul/blocks.hpp"

#include <algorithm>
#include <vector>

#include "base/poll_progress.hpp"
#include "cpu/binary_matmul/tiles.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "cpu/platform/large_pages.hpp"

namespace gpu::cpu {
namespace {

// 64-bit words whose left tiles are unpacked at once: 128 KiB in the second-level cache. Fewer
// words would fit the first-level cache, but the loads and stores of sums would cost more than that
// saves (docs/experiments.md).
constexpr index_t words_at_once = 64;
// Columns of a task: their bits, and 128 KiB of sums, stay in the second-level cache.
constexpr index_t most_tile_task_cols = 1024;
constexpr index_t task_col_bytes = index_t{1} << 20;

static_assert(words_at_once * 2 * tile_bytes +
                  most_tile_task_cols * tile_block * static_cast<index_t>(sizeof(std::int32_t)) <=
              static_cast<index_t>(tile_scratch_bytes));

// All rows of the right operand as columns.
class columns_of {
 public:
  columns_of(const bit_operand& rows, int threads)
      : strip_(rows.row_words() * column_words),
        words_(static_cast<std::size_t>(rows.padded_rows() / tile_rows * strip_)) {
    advise_large_pages(words_.data(), words_.size() * sizeof(std::uint32_t));
    detail::parallel_for(rows.padded_rows() / tile_block, threads, [&](index_t pair, int) {
      for (index_t strip = 2 * pair; strip < 2 * pair + 2; ++strip) {
        lay_columns(rows.from(strip * tile_rows), words_.data() + strip * strip_);
      }
    });
  }
  [[nodiscard]] laid_columns at(index_t col, index_t word) const {
    return {words_.data() + col / tile_rows * strip_ + word * column_words, strip_};
  }

 private:
  index_t strip_;
  aligned_buffer<std::uint32_t> words_;
};

// What a thread works in: pairs of tiles, and sums of a panel.
struct tile_scratch {
  aligned_buffer<std::uint8_t> tiles;
  aligned_buffer<std::int32_t> sums;

  void reserve(index_t words, index_t cols) {
    if (tiles.size() != 0) return;
    tiles = aligned_buffer<std::uint8_t>(
        static_cast<std::size_t>(std::min(words, words_at_once) * 2 * tile_bytes));
    sums = aligned_buffer<std::int32_t>(static_cast<std::size_t>(cols * tile_block));
  }
};

// The products of 32 rows and the columns [col, end_col) of the result.
struct tile_task {
  const bit_operand& left;
  const bit_operand& right;
  const columns_of& columns;
  int scale;
  matrix_view<std::int32_t> out;

  void run(index_t row, index_t col, index_t end_col, tile_scratch& scratch) const {
    std::uint8_t* const tiles = scratch.tiles.data();
    std::int32_t* const sums = scratch.sums.data();
    const index_t blocks = (end_col - col + tile_block - 1) / tile_block;
    for (index_t word = 0; word < left.row_words(); word += words_at_once) {
      const index_t count = std::min(words_at_once, left.row_words() - word);
      unpack_rows(left.from(row), word, count, tiles);
      count_on_tiles(tiles, columns.at(col, word), count, blocks, word == 0, sums);
    }
    finish_blocks(sums, std::min(tile_block, out.rows() - row), end_col - col,
                  {scale, left.offsets(row), right.offsets(col)}, out.row(row) + col,
                  out.row_stride());
  }
};

}  // namespace

bool tiles_pay(index_t rows, index_t cols, index_t bits) {
  constexpr index_t least_bits = 256;
  return usable_instruction_set() >= instruction_set::amx && std::min(rows, cols) >= tile_block &&
         bits >= least_bits;
}

void multiply_on_tiles(const bit_operand& left, const bit_operand& right, int scale,
                       matrix_view<std::int32_t> out, int threads) {
  const columns_of columns(right, threads);
  const tile_task task{left, right, columns, scale, out};
  const index_t fitting = task_col_bytes / (left.row_words() * 8) / tile_block * tile_block;
  const index_t panel = std::clamp(fitting, tile_block, most_tile_task_cols);
  const index_t widest = std::min(panel, right.padded_rows());
  std::vector<tile_scratch> scratch(static_cast<std::size_t>(threads));
  product_shares(out, tile_block, panel, threads)
      .for_each(out, threads,
                [&](index_t row, index_t end_row, index_t first_col, index_t last, int thread) {
                  tile_scratch& own = scratch[static_cast<std::size_t>(thread)];
                  own.reserve(left.row_words(), widest);
                  for (index_t col = first_col; col < last; col += panel) {
                    for (index_t i = row; i < end_row; i += tile_block) {
                      detail::poll_progress();
                      task.run(i, col, std::min(last, col + panel), own);
                    }
                  }
                });
}

}  // namespace gpu::cpu
