#include "spearman/spearman_measure.hpp"

#include "spearman/cut_cases.hpp"
#include "support/cpu_targets.hpp"

namespace {
using gpu_test::cpu_naive;
using gpu_test::cpu_tiled;
}  // namespace

TEST_CASE("Pairs on the cut are kept by every sink, CPU", "[spearman][cut]") {
  gpu_test::pairs_on_the_cut_are_kept_by_every_sink(cpu_tiled, 40);
  gpu_test::pairs_on_the_cut_are_kept_by_every_sink(cpu_naive, 24);
}

TEST_CASE("Pairs on the cut are kept at every width, CPU", "[spearman][cut]") {
  gpu_test::pairs_on_the_cut_are_kept_at_every_width(cpu_tiled, 24);
  gpu_test::pairs_on_the_cut_are_kept_at_every_width(cpu_naive, 16);
}
