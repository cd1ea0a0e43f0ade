#include "pairs/partner_q_cases.hpp"

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"

namespace {

using namespace gpu_test;

constexpr pair_target automatic{.where = gpu::backend::cuda};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};

}  // namespace

TEST_CASE("Partners on CUDA have the q of the textbook", "[adjusted][top_k][cuda]") {
  for (const pair_target& target : {automatic, shared}) {
    partners_have_the_q_of_the_textbook<spearman_measure>(target);
    partners_have_the_q_of_the_textbook<pearson_measure>(target);
  }
}

TEST_CASE("Partners on CUDA have the q of the edges", "[adjusted][top_k][cuda]") {
  q_of_many_pairs_is_that_of_the_edges<spearman_measure>(automatic);
  q_of_many_pairs_is_that_of_the_edges<pearson_measure>(automatic);
}
