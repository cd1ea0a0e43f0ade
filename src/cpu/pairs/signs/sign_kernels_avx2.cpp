#include "cpu/pairs/signs/sign_kernels_scalar.hpp"

namespace gpu::cpu {

const sign_kernels avx2_sign_kernels{
    .pack_signs = pack_signs, .add_sums = add_sums, .most_cols = 2048};

}  // namespace gpu::cpu
