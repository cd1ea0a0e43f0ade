#include "cpu/binary_matmul.hpp"

#include <algorithm>

#include "cpu/binary_blocks.hpp"
#include "cpu/binary_count.hpp"
#include "cpu/binary_rows.hpp"
#include "cpu/binary_tiles.hpp"
#include "cpu/instruction_set.hpp"
#include "cpu/large_pages.hpp"
#include "cpu/parallel.hpp"
#include "plan/bit_terms.hpp"

namespace gpu::cpu {
namespace {

// Rows of b that stay in a core's second-level cache while rows of a pass by.
constexpr index_t panel_bytes = 256 * 1024;
constexpr index_t most_panel_rows = 256;
constexpr index_t rows_per_task = 32;

count_common_ones choose_loop() {
#if defined(__x86_64__)
  const instruction_set level = usable_instruction_set();
  if (level >= instruction_set::avx512 && __builtin_cpu_supports("avx512vpopcntdq")) {
    return count_common_ones_avx512;
  }
  if (level >= instruction_set::avx2) return count_common_ones_avx2;
#endif
  return count_common_ones_baseline;
}

}  // namespace

template <class T>
void pack_bits(matrix_view<const T> data, mutable_bit_matrix_view bits, T threshold, int threads) {
  constexpr index_t rows_at_once = 64;
  const index_t tasks = (data.rows() + rows_at_once - 1) / rows_at_once;
  parallel_for(tasks, thread_count(threads), [&](index_t task, int) {
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

void binary_matmul(bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
                   bit_product product, int threads) {
  if (out.empty()) return;
  // A result whose rows follow each other is fresh memory of the caller.
  if (out.row_stride() == out.cols()) {
    advise_large_pages(out.data(),
                       static_cast<std::size_t>(out.rows() * out.cols()) * sizeof(std::int32_t));
  }
  const int team = thread_count(threads);
  const detail::bit_terms terms = detail::terms_of(product, a.cols());
#if defined(__x86_64__)
  if (tiles_pay(out.rows(), out.cols(), a.cols())) {
    const prepared_rows left(a, tile_block, terms.per_one, terms.constant, team);
    const prepared_rows right(b, tile_block, terms.per_one, 0, team);
    multiply_on_tiles(left, right, terms.scale, out, team);
    return;
  }
#endif
  const prepared_rows left(a, bit_block, terms.per_one, terms.constant, team);
  const prepared_rows right(b, bit_block, terms.per_one, 0, team);
  const count_common_ones count = choose_loop();

  const index_t row_bytes = std::max<index_t>(1, right.row_words() * 8);
  const index_t fitting = panel_bytes / row_bytes / bit_block * bit_block;
  const index_t panel = std::clamp<index_t>(fitting, bit_block, most_panel_rows);
  const index_t row_tasks = (out.rows() + rows_per_task - 1) / rows_per_task;
  const index_t panels = (out.cols() + panel - 1) / panel;
  parallel_for(row_tasks * panels, team, [&](index_t task, int) {
    const index_t first_row = task / panels * rows_per_task;
    const index_t first_col = task % panels * panel;
    const index_t end_row = std::min(out.rows(), first_row + rows_per_task);
    const index_t end_col = std::min(out.cols(), first_col + panel);
    for (index_t i = first_row; i < end_row; i += bit_block) {
      for (index_t j = first_col; j < end_col; j += bit_block) {
        std::int32_t counts[bit_block * bit_block];
        count(left.from(i), right.from(j), counts);
        for (index_t y = 0; y < std::min<index_t>(bit_block, end_row - i); ++y) {
          for (index_t x = 0; x < std::min<index_t>(bit_block, end_col - j); ++x) {
            out(i + y, j + x) =
                terms.scale * counts[y * bit_block + x] + left.offset(i + y) + right.offset(j + x);
          }
        }
      }
    }
  });
}

}  // namespace gpu::cpu
