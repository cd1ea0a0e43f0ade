#include "bicor/bicor_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Bicor, CPU tiled", "[bicor]") {
  gpu_test::run_bicor_cases(tiled);
}

TEST_CASE("Bicor, CPU naive", "[bicor][naive]") {
  gpu_test::run_bicor_cases(naive);
}

TEST_CASE("Bicor variants agree bit for bit", "[bicor]") {
  gpu_test::bicor_edges_equal_those_of(naive, tiled, 500);
}

TEST_CASE("Bicor in windows of rows is that of all rows", "[bicor]") {
  const auto data = gpu_test::robust_rows<float>(3000, 25, 8);
  gpu::pair_options windows;
  windows.exec.target = gpu::backend::cpu;
  windows.exec.cpu_threads = 2;
  const gpu::edge_sink sink{.keep = {.max_p = 1e-5}};
  const auto wanted = gpu::bicor_all_pairs(data.view(), windows, sink);
  windows.exec.workspace_bytes = std::size_t{3} << 19;
  const auto got = gpu::bicor_all_pairs(data.view(), windows, sink);
  CHECK(got.edges.size() > 1000);
  CHECK(got.summary.checksum == wanted.summary.checksum);
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{9});
}
