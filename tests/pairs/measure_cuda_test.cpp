// The measures of measure_cases.hpp on the device: no kernel and no sink knows them.
#include "pairs/measure_cases.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::pair_target;

constexpr pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
pair_target tensor() {
  return {.where = gpu::backend::cuda, .variant = gpu_test::tensor_or_tiles()};
}
constexpr pair_target best{.where = gpu::backend::cuda};

}  // namespace

TEST_CASE("Ranks of a descriptor alone have every sink on CUDA", "[measure]") {
  for (const pair_target& target : {best, tensor(), shared, naive}) {
    gpu_test::rank_sinks_equal_the_oracle(target);
  }
}

TEST_CASE("Ranks that fold have the edges of single rows on CUDA", "[measure]") {
  for (const pair_target& target : {best, shared}) gpu_test::folded_rows_have_the_edges(target);
}

TEST_CASE("Unit rows of a descriptor alone have every sink, CUDA automatic", "[measure]") {
  gpu_test::run_unit_cases(best);
}

TEST_CASE("Unit rows of a descriptor alone have every sink, CUDA tensor", "[measure]") {
  gpu_test::run_unit_cases(tensor());
}

TEST_CASE("Unit rows of a descriptor alone have every sink, CUDA shared_tiled", "[measure]") {
  gpu_test::run_unit_cases(shared);
}

TEST_CASE("What a descriptor lacks is refused on CUDA before any work", "[measure]") {
  gpu_test::what_is_not_described_is_refused(best);
}
