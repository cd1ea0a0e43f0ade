// Tables in either layout and of wide integers, on CUDA: blocks of rows are gathered before they
// are uploaded.
#include <cstdint>

#include "support/catch.hpp"
#include "support/layout_cases.hpp"

namespace {

const gpu_test::pair_target cuda{.where = gpu::backend::cuda};

}  // namespace

TEST_CASE("Large integers are ranked as they are on CUDA", "[layout][cuda]") {
  gpu_test::large_integers_are_ranked_as_they_are<std::int64_t>(cuda);
  gpu_test::large_integers_are_ranked_as_they_are<std::uint64_t>(cuda);
}

TEST_CASE("Measures of values refuse integers that doubles do not hold on CUDA", "[layout][cuda]") {
  gpu_test::inexact_integers_are_refused<std::int64_t>(cuda);
}

TEST_CASE("A large table in columns is uploaded block by block", "[layout][cuda]") {
  const auto table = gpu_test::random_matrix<float>(30'000, 400, 12);
  gpu::matrix<float> across(400, 30'000);
  for (gpu::index_t i = 0; i < 30'000; ++i) {
    for (gpu::index_t j = 0; j < 400; ++j) across(j, i) = table(i, j);
  }
  const auto edges = [](const auto& data) {
    return gpu::spearman_all_pairs(data, {.exec = {.target = gpu::backend::cuda}},
                                   gpu::edge_sink{.keep = {.min_abs = 0.22}})
        .edges;
  };
  const auto expected = edges(table);
  REQUIRE(expected.size() > 1000);
  const bool same = edges(gpu::transposed(across)) == expected;
  CHECK(same);
}
