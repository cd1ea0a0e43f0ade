// All-pairs kernels for AVX-512 with VNNI: four 8-bit or two 16-bit products a lane and
// instruction.
#include <immintrin.h>

#include "cpu/pair_kernels.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pair_kernel_body.hpp"
#include "cpu/pair_kernels_avx512_ops.hpp"
#include "cpu/pair_kernels_vnni_ops.hpp"
#include "cpu/pair_kernels_vnni_screen.hpp"

}  // namespace

const pair_kernels avx512_vnni_pair_kernels{
    .name = "avx512_vnni",
    .screen = {.search = vnni_screen::search, .signed_columns = false},
    .int8 = kernel_body<vnni_int8>::kernels(),
    .int16 = kernel_body<vnni_int16>::kernels(),
    .float32 = kernel_body<avx512_float32>::kernels(),
    .rho = rho_of_sums,
    .ordered_dots = ordered_dots,
    .int8_dot = dot_of<std::int8_t>,
    .int16_dot = dot_of<std::int16_t>};

}  // namespace gpu::cpu
