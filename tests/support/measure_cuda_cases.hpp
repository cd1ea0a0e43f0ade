#pragma once
// The targets that tests of a measure on CUDA have.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"
#include "support/device_table.hpp"
#include "support/pair_target.hpp"
#include "support/same_or_nan.hpp"

namespace gpu_test {

inline constexpr pair_target cpu_tiled{.where = gpu::backend::cpu,
                                       .variant = gpu::pair_variant::tiled};
inline constexpr pair_target cuda_naive{.where = gpu::backend::cuda,
                                        .variant = gpu::pair_variant::naive};
inline constexpr pair_target cuda_shared{.where = gpu::backend::cuda,
                                         .variant = gpu::pair_variant::shared_tiled};
inline pair_target cuda_tensor() {
  return {.where = gpu::backend::cuda, .variant = tensor_or_tiles()};
}
inline constexpr pair_target cuda_best{.where = gpu::backend::cuda};

}  // namespace gpu_test
