#include "cosine/cosine_cases.hpp"
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

TEST_CASE("Cosine, CUDA automatic", "[cosine]") {
  gpu_test::run_cosine_cases(best);
}

TEST_CASE("Cosine, CUDA tensor", "[cosine]") {
  gpu_test::run_cosine_cases(tensor);
}

TEST_CASE("Cosine, CUDA shared_tiled", "[cosine]") {
  gpu_test::run_cosine_cases(shared);
}

TEST_CASE("Cosine, CUDA naive", "[cosine]") {
  gpu_test::run_cosine_cases(naive);
}

TEST_CASE("Cosine on CUDA agrees with the CPU bit for bit", "[cosine]") {
  for (const pair_target& target : {best, tensor, shared, naive}) {
    gpu_test::cosine_edges_equal_those_of(cpu, target, 700);
  }
  for (const pair_target& target : {best, tensor}) {
    gpu_test::cosine_edges_equal_those_of(cpu, target, 5000);
  }
}

TEST_CASE("Cosine of tables in device memory", "[cosine]") {
  const auto data = gpu_test::mixed_rows(400, 45, 21);
  const gpu_test::device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> view = there.view();
  const gpu::edge_sink sink{.keep = {.min_abs = 0.3}};
  const auto wanted = gpu::cosine_all_pairs(data.view(), cpu.options(), sink);
  CHECK(wanted.edges.size() > 1000);
  CHECK(gpu::cosine_all_pairs(view, best.options(), sink).summary.checksum ==
        wanted.summary.checksum);

  const auto capacity = static_cast<gpu::index_t>(wanted.edges.size()) + 5;
  const gpu_test::device_array<gpu::edge> edges(static_cast<std::size_t>(capacity));
  const gpu_test::device_array<std::uint64_t> found(1);
  gpu::cosine_all_pairs(
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
             got[e].statistic != wanted.edges[e].statistic || !std::isnan(got[e].p);
  }
  CHECK(wrong == 0);

  const gpu_test::device_array<std::uint32_t> degree(400);
  gpu::cosine_all_pairs(view, best.options(),
                        gpu::device_count_sink{.degree = {degree.data(), 400}, .keep = sink.keep});
  std::vector<std::uint32_t> degrees(400);
  degree.copy_to(degrees.data());
  CHECK(
      degrees ==
      gpu::cosine_all_pairs(data.view(), cpu.options(), gpu::count_sink{.keep = sink.keep}).degree);
}

// Rows that do not fit the budget are prepared for other tiles, and staged in blocks.
TEST_CASE("Cosine of rows that do not fit the device's budget is the CPU's", "[cosine]") {
  const auto data = gpu_test::mixed_rows(1178, 130, 8);
  const gpu::count_sink counts{.keep = {.min_abs = 0.8}, .histogram_bins = 20};
  const gpu::top_k_sink partners{.k = 10};
  const auto wanted = gpu::cosine_all_pairs(data.view(), cpu.options(), counts);
  const auto best_partners = gpu::cosine_all_pairs(data.view(), cpu.options(), partners);
  const auto wanted_dense = gpu::cosine_all_pairs(data.view(), cpu.options(), gpu::dense_sink{});
  CHECK(wanted.kept > 1000);
  for (const pair_target& target : {best, tensor, shared, naive}) {
    gpu::pair_options options = target.options();
    options.exec.workspace_bytes = std::size_t{1} << 20;
    const auto got = gpu::cosine_all_pairs(data.view(), options, counts);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
    CHECK(got.histogram == wanted.histogram);
    const auto edges = gpu::cosine_all_pairs(data.view(), options, gpu::edge_sink{counts.keep});
    CHECK(edges.edges.size() == wanted.kept);
    const auto found = gpu::cosine_all_pairs(data.view(), options, partners);
    const auto entries = static_cast<std::size_t>(found.index.rows() * found.index.cols());
    CHECK(std::equal(found.index.data(), found.index.data() + entries, best_partners.index.data()));
    const auto dense = gpu::cosine_all_pairs(data.view(), options, gpu::dense_sink{});
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < dense.rows(); ++i) {
      for (gpu::index_t j = 0; j < dense.cols(); ++j) {
        const double a = dense(i, j);
        const double b = wanted_dense(i, j);
        wrong += !(a != a && b != b) && !gpu_test::cosine_measure::same_dense(a, b);
      }
    }
    CHECK(wrong == 0);
  }
}
