// All-pairs kernels for AVX-512 without VNNI.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernels_avx512_ops.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"

struct avx512_int16 : avx512_integer_lanes {
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    s = _mm512_add_epi32(s, _mm512_madd_epi16(c, row_step(p)));
  }
};

}  // namespace

const pair_kernels avx512_pair_kernels{
    .name = "avx512",
    .costs = default_costs::avx512,
    .screen = {.search = search_byte_pairs_avx2, .columns = packing::byte_pairs},
    .int16 = kernel_body<avx512_int16>::kernels(),
    .float32 = kernel_body<avx512_float32>::kernels(),
    .rho = rho_of_sums,
    .add_products = product_body<avx512_int16>::add,
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
