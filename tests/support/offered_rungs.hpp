#pragma once
// Whether a rung of all pairs can run on CUDA here: the device may lack what it needs, or the build
// its code.

#include <gpu/error.hpp>
#include <gpu/plan.hpp>
#include <gpu/spearman.hpp>

#include "support/generators.hpp"

namespace gpu_test {

inline bool cuda_offers(gpu::pair_variant variant) {
  const gpu::matrix<float> some = random_matrix<float>(3, 5, 1);
  const gpu::pair_options options{.variant = variant, .exec = {.target = gpu::backend::cuda}};
  try {
    (void)gpu::plan_spearman_all_pairs(some.view(), options, gpu::pair_filter{});
  } catch (const gpu::unsupported&) {
    return false;
  }
  return true;
}

}  // namespace gpu_test
