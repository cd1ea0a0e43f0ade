// All-pairs kernels for AVX-512 with VNNI: four 8-bit or two 16-bit products a lane and
// instruction.
#include <immintrin.h>

#include "cpu/pair_kernels.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pair_kernel_body.hpp"
#include "cpu/pair_kernels_avx512_ops.hpp"

// vpdpbusd multiplies unsigned by signed bytes: the columns are stored plus 128, which adds 128
// times the sum of a row, and that is 0.
struct vnni_int8 : avx512_integer_lanes {
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    s = _mm512_dpbusd_epi32(s, c, row_step(p));
  }
};

struct vnni_int16 : avx512_integer_lanes {
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    s = _mm512_dpwssd_epi32(s, c, row_step(p));
  }
};

}  // namespace

const pair_kernels avx512_vnni_pair_kernels{.name = "avx512_vnni",
                                            .int8 = kernel_body<vnni_int8>::kernels(),
                                            .int16 = kernel_body<vnni_int16>::kernels(),
                                            .float32 = kernel_body<avx512_float32>::kernels(),
                                            .rho = rho_of_sums,
                                            .ordered_dots = ordered_dots};

}  // namespace gpu::cpu
