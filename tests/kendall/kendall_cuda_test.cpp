#include "kendall/kendall_cases.hpp"
#include "support/measure_cuda_cases.hpp"

TEST_CASE("Kendall, CUDA automatic", "[kendall]") {
  gpu_test::run_kendall_cases(gpu_test::cuda_best);
}

TEST_CASE("Kendall, CUDA shared_tiled", "[kendall]") {
  gpu_test::run_kendall_cases(gpu_test::cuda_shared);
}

TEST_CASE("Ties of Kendall of tables in device memory and of prepared rows", "[kendall]") {
  using namespace gpu_test;
  const auto data = mixed_rows<float>(400, 45, 21);
  const device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> x = there.view();
  CHECK(gpu::kendall_ties(x) == gpu::kendall_ties(data));
  CHECK(gpu::kendall_ties(gpu::prepare_rows(gpu::measure::kendall, data.view(),
                                            cuda_best.options())) == gpu::kendall_ties(data));
  const device_array<gpu::edge> edges(10);
  const device_array<std::uint64_t> found(1);
  CHECK_THROWS_AS(gpu::kendall_all_pairs(x, cuda_best.options(),
                                         gpu::device_edge_sink{.edges = {edges.data(), 10},
                                                               .found = {found.data(), 1}}),
                  gpu::unsupported);
}

TEST_CASE("Kendall that does not fit the device's budget is refused", "[kendall]") {
  gpu::pair_options options = gpu_test::cuda_best.options();
  options.exec.workspace_bytes = std::size_t{1} << 20;
  CHECK_THROWS_AS(gpu::kendall_all_pairs(gpu_test::mixed_rows<float>(500, 60, 1).view(), options,
                                         gpu::edge_sink{}),
                  gpu::out_of_memory);
}
