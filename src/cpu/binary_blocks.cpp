#include "cpu/binary_blocks.hpp"

#include <algorithm>

#include "cpu/binary_tiles.hpp"
#include "cpu/instruction_set.hpp"
#include "cpu/large_pages.hpp"

namespace gpu::cpu {
namespace {

// 64-bit words of a row unpacked at once: 8,192 bits.
constexpr index_t most_words = 128;
// Unpacked operands: in the last-level cache where it is large, never more than this each.
constexpr index_t most_unpacked_bytes = index_t{32} << 20;
// Of the right operand, kept in the second-level cache while rows of the left one pass by.
constexpr index_t panel_bytes = index_t{1} << 20;
constexpr index_t most_panel_cols = 256;
constexpr index_t blocks_per_task = 8;

using unpack_tiles = void (*)(bit_rows, index_t, index_t, std::uint8_t*);

// Some rows of an operand as tiles, 16 rows a strip.
class unpacked_rows {
 public:
  unpacked_rows(index_t most_rows, index_t words)
      : tiles_(static_cast<std::size_t>(most_rows / tile_rows * words * tile_bytes)) {
    advise_large_pages(tiles_.data(), tiles_.size());
  }
  void fill(unpack_tiles unpack, const prepared_rows& from, index_t first_row, index_t rows,
            index_t first_word, index_t words, int threads) {
    strip_bytes_ = words * tile_bytes;
    parallel_for(rows / tile_rows, threads, [&](index_t strip, int) {
      unpack(from.from(first_row + strip * tile_rows), first_word, words,
             tiles_.data() + strip * strip_bytes_);
    });
  }
  [[nodiscard]] const std::uint8_t* from(index_t row) const {
    return tiles_.data() + row / tile_rows * strip_bytes_;
  }

 private:
  aligned_buffer<std::uint8_t> tiles_;
  index_t strip_bytes_ = 0;
};

// Where the counts of one block go: results come about over several stretches of words.
struct block_output {
  matrix_view<std::int32_t> out;
  const prepared_rows& left;
  const prepared_rows& right;
  int scale;
  bool is_first;
  bool is_last;

  void add(index_t row, index_t col, index_t cols, const std::int32_t* counts) const {
    const index_t rows = std::min(tile_block, out.rows() - row);
    const index_t used = std::min(cols, out.cols() - col);
    for (index_t y = 0; y < rows; ++y) {
      const std::int32_t* const from = counts + y * cols;
      std::int32_t* const to = out.row(row + y) + col;
      if (!is_first) {
        add_counts(from, used, to);
      } else if (!is_last) {
        std::copy_n(from, used, to);
      }
      if (is_last) {
        finish_counts(is_first ? from : to, used, scale, left.offset(row + y), right.offsets(col),
                      to);
      }
    }
  }
};

// Rows that fit most_unpacked_bytes, a multiple of tile_block.
index_t rows_at_once(index_t rows, index_t words) {
  const index_t most = most_unpacked_bytes / (words * (tile_bytes / tile_rows));
  return std::min(rows, std::max(most / tile_block, index_t{1}) * tile_block);
}

}  // namespace

bool tiles_pay(index_t rows, index_t cols, index_t bits) {
  constexpr index_t least_bits = 256;
  return usable_instruction_set() >= instruction_set::amx && std::min(rows, cols) >= tile_block &&
         bits >= least_bits;
}

void multiply_on_tiles(const prepared_rows& left, const prepared_rows& right, int scale,
                       matrix_view<std::int32_t> out, int threads) {
  const index_t row_words = left.row_words();
  const index_t longest = std::min(row_words, most_words);
  const index_t left_step = rows_at_once(left.padded_rows(), longest);
  const index_t right_step = rows_at_once(right.padded_rows(), longest);
  unpacked_rows left_tiles(left_step, longest);
  unpacked_rows right_tiles(right_step, longest);
  const index_t fitting = panel_bytes / (longest * (tile_bytes / tile_rows));
  const index_t panel = std::clamp(fitting / tile_block * tile_block, tile_block, most_panel_cols);

  for (index_t word = 0; word < row_words; word += longest) {
    const index_t words = std::min(longest, row_words - word);
    const block_output output{out, left, right, scale, word == 0, word + words == row_words};
    for (index_t col = 0; col < right.padded_rows(); col += right_step) {
      const index_t cols = std::min(right_step, right.padded_rows() - col);
      right_tiles.fill(unpack_right_tiles, right, col, cols, word, words, threads);
      for (index_t row = 0; row < left.padded_rows(); row += left_step) {
        const index_t rows = std::min(left_step, left.padded_rows() - row);
        left_tiles.fill(unpack_left_tiles, left, row, rows, word, words, threads);
        const index_t groups = (rows / tile_block + blocks_per_task - 1) / blocks_per_task;
        const index_t panels = (cols + panel - 1) / panel;
        // Tasks that share a panel follow each other.
        parallel_for(groups * panels, threads, [&](index_t task, int) {
          alignas(64) std::int32_t counts[tile_block * most_panel_cols];
          const index_t j = task / groups * panel;
          const index_t width = std::min(panel, cols - j);
          const index_t first = task % groups * blocks_per_task * tile_block;
          const index_t end = std::min(rows, first + blocks_per_task * tile_block);
          for (index_t i = first; i < end; i += tile_block) {
            count_on_tiles(left_tiles.from(i), right_tiles.from(j), words, width, counts);
            output.add(row + i, col + j, width, counts);
          }
        });
      }
    }
  }
}

}  // namespace gpu::cpu
