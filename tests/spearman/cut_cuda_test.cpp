#include "spearman/spearman_measure.hpp"

#include "spearman/cut_cases.hpp"
#include "support/device_offers.hpp"

TEST_CASE("Pairs on the cut, CUDA", "[spearman][cut]") {
  for (const auto variant : {gpu::pair_variant::naive, gpu::pair_variant::shared_tiled,
                             gpu::pair_variant::tensor, gpu::pair_variant::hopper}) {
    const gpu_test::pair_target target{.where = gpu::backend::cuda, .variant = variant};
    if (!gpu_test::applies(variant)) continue;
    // Hopper's classes are padded to 256 rows.
    const gpu::index_t block = variant == gpu::pair_variant::hopper ? 256 : 128;
    gpu_test::pairs_on_the_cut_are_kept_by_every_sink(target, block);
    gpu_test::pairs_on_the_cut_are_kept_at_every_width(target, block);
  }
}
