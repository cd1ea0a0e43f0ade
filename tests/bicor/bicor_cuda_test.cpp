#include "bicor/bicor_cases.hpp"
#include "support/device_memory.hpp"
#include "support/device_table.hpp"

namespace {

using gpu_test::pair_target;

constexpr pair_target cpu{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
constexpr pair_target tensor{.where = gpu::backend::cuda, .variant = gpu::pair_variant::tensor};
constexpr pair_target best{.where = gpu::backend::cuda};

}  // namespace

TEST_CASE("Bicor, CUDA automatic", "[bicor]") {
  gpu_test::run_bicor_cases(best);
}

TEST_CASE("Bicor, CUDA tensor", "[bicor]") {
  gpu_test::run_bicor_cases(tensor);
}

TEST_CASE("Bicor, CUDA shared_tiled", "[bicor]") {
  gpu_test::run_bicor_cases(shared);
}

TEST_CASE("Bicor, CUDA naive", "[bicor]") {
  gpu_test::run_bicor_cases(naive);
}

TEST_CASE("Bicor on CUDA agrees with the CPU bit for bit", "[bicor]") {
  for (const pair_target& target : {best, tensor, shared, naive}) {
    gpu_test::bicor_edges_equal_those_of(cpu, target, 700);
  }
  for (const pair_target& target : {best, tensor}) {
    gpu_test::bicor_edges_equal_those_of(cpu, target, 5000);
  }
}

TEST_CASE("Bicor of tables in device memory", "[bicor]") {
  const auto data = gpu_test::robust_rows<float>(400, 45, 21);
  const gpu_test::device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> view = there.view();
  const gpu::edge_sink sink{.keep = {.max_p = 0.01}};
  const auto wanted = gpu::bicor_all_pairs(data.view(), cpu.options(), sink);
  CHECK(wanted.edges.size() > 1000);
  CHECK(gpu::bicor_all_pairs(view, best.options(), sink).summary.checksum ==
        wanted.summary.checksum);

  const auto capacity = static_cast<gpu::index_t>(wanted.edges.size()) + 5;
  const gpu_test::device_array<gpu::edge> edges(static_cast<std::size_t>(capacity));
  const gpu_test::device_array<std::uint64_t> found(1);
  gpu::bicor_all_pairs(
      view, best.options(),
      gpu::device_edge_sink{
          .edges = {edges.data(), capacity}, .found = {found.data(), 1}, .keep = sink.keep});
  std::vector<gpu::edge> got(static_cast<std::size_t>(capacity));
  edges.copy_to(got.data());
  std::uint64_t number = 0;
  found.copy_to(&number);
  CHECK(number == wanted.edges.size());
  gpu::index_t wrong = 0;
  for (std::size_t e = 0; e < wanted.edges.size(); ++e) {
    wrong += got[e].row != wanted.edges[e].row || got[e].col != wanted.edges[e].col ||
             got[e].statistic != wanted.edges[e].statistic || got[e].p != wanted.edges[e].p;
  }
  CHECK(wrong == 0);

  const gpu_test::device_array<std::uint32_t> degree(400);
  gpu::bicor_all_pairs(view, best.options(),
                       gpu::device_count_sink{.degree = {degree.data(), 400}, .keep = sink.keep});
  std::vector<std::uint32_t> degrees(400);
  degree.copy_to(degrees.data());
  CHECK(
      degrees ==
      gpu::bicor_all_pairs(data.view(), cpu.options(), gpu::count_sink{.keep = sink.keep}).degree);
}

// Rows that do not fit the budget are prepared for other tiles, and staged in blocks.
TEST_CASE("Bicor of rows that do not fit the device's budget is the CPU's", "[bicor]") {
  const auto data = gpu_test::robust_rows<float>(1178, 130, 8);
  const gpu::count_sink counts{.keep = {.max_p = 1e-4}, .histogram_bins = 20};
  const gpu::top_k_sink partners{.k = 10};
  const auto wanted = gpu::bicor_all_pairs(data.view(), cpu.options(), counts);
  const auto best_partners = gpu::bicor_all_pairs(data.view(), cpu.options(), partners);
  const auto wanted_dense = gpu::bicor_all_pairs(data.view(), cpu.options(), gpu::dense_sink{});
  CHECK(wanted.kept > 1000);
  for (const pair_target& target : {best, tensor, shared, naive}) {
    gpu::pair_options options = target.options();
    options.exec.workspace_bytes = std::size_t{1} << 20;
    const auto got = gpu::bicor_all_pairs(data.view(), options, counts);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
    CHECK(got.histogram == wanted.histogram);
    const auto edges = gpu::bicor_all_pairs(data.view(), options, gpu::edge_sink{counts.keep});
    CHECK(edges.edges.size() == wanted.kept);
    const auto found = gpu::bicor_all_pairs(data.view(), options, partners);
    const auto entries = static_cast<std::size_t>(found.index.rows() * found.index.cols());
    CHECK(std::equal(found.index.data(), found.index.data() + entries, best_partners.index.data()));
    const auto dense = gpu::bicor_all_pairs(data.view(), options, gpu::dense_sink{});
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < dense.rows(); ++i) {
      for (gpu::index_t j = 0; j < dense.cols(); ++j) {
        const double a = dense(i, j);
        const double b = wanted_dense(i, j);
        wrong += !(a != a && b != b) && !gpu_test::bicor_measure::same_dense(a, b);
      }
    }
    CHECK(wrong == 0);
  }
}
