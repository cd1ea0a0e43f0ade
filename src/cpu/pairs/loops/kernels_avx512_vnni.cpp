// All-pairs kernels for AVX-512 with VNNI: four 8-bit or two 16-bit products a lane and
// instruction.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_screen_body.hpp"
#include "cpu/pairs/loops/kernels_avx512_ops.hpp"
#include "cpu/pairs/loops/kernels_class_count.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"
#include "cpu/pairs/loops/kernels_vnni_ops.hpp"
#include "cpu/pairs/loops/kernels_vnni_screen.hpp"

std::uint64_t count_classes(const class_tile& tile, std::uint32_t* row_degree,
                            std::uint32_t* col_degree) {
  using body = kernel_body<vnni_int8>;
  return with_class_counter(tile, row_degree, col_degree, [&](auto& counter) {
    for (index_t group = 0; group * group_lanes < tile.cols; group += body::tile_groups) {
      counter.start(group);
      for (index_t row = 0; row < tile.rows; row += body::tile_rows) {
        if (group * group_lanes + body::tile_cols - 1 + tile.diagonal <= row) break;
        typename body::block products;
        body::multiply(tile, row, group, products);
        const auto sums = [&](index_t i, int g) { return products.at[i][g]; };
        if (row + body::tile_rows <= tile.rows) {
          counter.add(row, body::tile_rows, sums);
        } else {
          counter.add(row, tile.rows - row, sums);
        }
      }
    }
  });
}

}  // namespace

const pair_kernels avx512_vnni_pair_kernels{
    .name = "avx512_vnni",
    .costs = default_costs::avx512_vnni,
    .screen = {.search = vnni_screen::search, .columns = packing::int8},
    .count_classes = count_classes,
    .int8 = kernel_body<vnni_int8>::kernels(),
    .int16 = kernel_body<vnni_int16>::kernels(),
    .float32 = kernel_body<avx512_float32>::kernels(),
    .rho = rho_of_sums,
    .add_products = product_body<vnni_int16>::add,
    .rho_of_doubles = rho_of_doubles,
    .select = select_compressed,
    .ordered_dots = ordered_dots,
    .add_partial_sums = add_partial_sums,
    .combine_partial_sums = combine_partial_sums,
    .row = unit_row_body<avx512_eight>::passes(),
    .round_doubles = rounding_body<avx512_eight, double>::kernels(),
    .round_int16 = rounding_body<avx512_eight, std::int16_t>::kernels(),
    .round_int32 = rounding_body<avx512_eight, std::int32_t>::kernels(),
    .pairwise_counts = pairwise_counts,
    .pairwise_statistics = pairwise_body<avx512_pairwise>::statistics,
    .pairwise_rank_sums = pairwise_rank_sums,
    .mask_values = mask_body<avx512_masks>::values,
    .mask_ranks = mask_body<avx512_masks>::ranks,
    .int8_dot = masked_dot<std::int8_t>,
    .int16_dot = masked_dot<std::int16_t>,
    .long_int16_dot = long_dot_of<std::int16_t>,
    .long_int32_dot = long_dot_of<std::int32_t>};

}  // namespace gpu::cpu
