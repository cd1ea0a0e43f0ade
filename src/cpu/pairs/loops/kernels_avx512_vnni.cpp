// All-pairs kernels for AVX-512 with VNNI: four 8-bit or two 16-bit products a lane and
// instruction.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_dots_body.hpp"
#include "cpu/pairs/loops/kernel_doubles.hpp"
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
  return with_class_tile_counter(tile, row_degree, col_degree, [&](auto& counter) {
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

#include "cpu/pairs/loops/kernels_avx512_table.hpp"

}  // namespace

constinit const pair_kernels avx512_vnni_pair_kernels = [] {
  pair_kernels out = avx512_table<vnni_int16>();
  out.name = "avx512_vnni";
  out.costs = detail::default_costs::avx512_vnni;
  out.screen = {.search = vnni_screen::search, .columns = packing::int8};
  out.count_classes = count_classes;
  out.int8 = kernel_body<vnni_int8>::kernels();
  return out;
}();

}  // namespace gpu::cpu
