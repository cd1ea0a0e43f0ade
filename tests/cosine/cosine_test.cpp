#include "cosine/cosine_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Cosine, CPU tiled", "[cosine]") {
  gpu_test::run_cosine_cases(tiled);
}

TEST_CASE("Cosine, CPU naive", "[cosine]") {
  gpu_test::run_cosine_cases(naive);
}

TEST_CASE("Cosine in windows of rows is that of all rows", "[cosine]") {
  const auto data = gpu_test::mixed_rows(3000, 25, 8);
  gpu::pair_options windows;
  windows.exec.target = gpu::backend::cpu;
  windows.exec.cpu_threads = 2;
  const gpu::edge_sink sink{.keep = {.min_abs = 0.9}};
  const auto wanted = gpu::cosine_all_pairs(data.view(), windows, sink);
  windows.exec.workspace_bytes = std::size_t{1} << 20;
  const auto got = gpu::cosine_all_pairs(data.view(), windows, sink);
  CHECK(got.edges.size() > 1000);
  CHECK(got.summary.checksum == wanted.summary.checksum);
  CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
}

TEST_CASE("Cosine variants agree bit for bit", "[cosine]") {
  gpu_test::cosine_edges_equal_those_of(naive, tiled, 700);
}

TEST_CASE("Cosine is the product of the rows over their lengths", "[cosine]") {
  const std::vector<double> values{1, 2, 3, -1, 0.5, 2, 4, 4, 4};
  const auto got = gpu::cosine_all_pairs(gpu::as_matrix(values, 3, 3));
  CHECK(got(0, 1) == Approx(6 / std::sqrt(14 * 5.25)));
  CHECK(got(0, 2) == Approx(24 / std::sqrt(14.0 * 48)));
  CHECK(got(1, 2) == Approx(6 / std::sqrt(5.25 * 48)));
}
