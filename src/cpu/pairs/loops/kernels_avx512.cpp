// All-pairs kernels for AVX-512 without VNNI.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_dots_body.hpp"
#include "cpu/pairs/loops/kernel_doubles.hpp"
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

#include "cpu/pairs/loops/kernels_avx512_table.hpp"

}  // namespace

constinit const pair_kernels avx512_pair_kernels = [] {
  pair_kernels out = avx512_table<avx512_int16>();
  out.name = "avx512";
  out.costs = detail::default_costs::avx512;
  out.screen = {.search = search_byte_pairs_avx2, .columns = packing::byte_pairs};
  return out;
}();

}  // namespace gpu::cpu
