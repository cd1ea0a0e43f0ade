#include "spearman/spearman_measure.hpp"

#include "spearman/cut_cases.hpp"

namespace {
constexpr gpu_test::pair_target tiled{.where = gpu::backend::cpu,
                                      .variant = gpu::pair_variant::tiled};
constexpr gpu_test::pair_target naive{.where = gpu::backend::cpu,
                                      .variant = gpu::pair_variant::naive};
}  // namespace

TEST_CASE("Pairs on the cut are kept by every sink, CPU", "[spearman][cut]") {
  gpu_test::pairs_on_the_cut_are_kept_by_every_sink(tiled, 40);
  gpu_test::pairs_on_the_cut_are_kept_by_every_sink(naive, 24);
}

TEST_CASE("Pairs on the cut are kept at every width, CPU", "[spearman][cut]") {
  gpu_test::pairs_on_the_cut_are_kept_at_every_width(tiled, 24);
  gpu_test::pairs_on_the_cut_are_kept_at_every_width(naive, 16);
}
