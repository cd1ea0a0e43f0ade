#pragma once
// What cases of all pairs run on, on the CPU, and the tails.

#include <array>

#include "support/pair_target.hpp"

namespace gpu_test {

inline constexpr pair_target cpu_tiled{.variant = gpu::pair_variant::tiled};
inline constexpr pair_target cpu_naive{.variant = gpu::pair_variant::naive};

inline constexpr std::array all_sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};

}  // namespace gpu_test
