// Strict cuts on a device with warpgroup tensor cores: the screen must leave the CPU's edges, bit
// for bit, whatever it multiplies and however dense the result is.
#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using matrix = gpu::matrix<std::int32_t>;

gpu::pair_options on(gpu::pair_variant variant) {
  gpu::pair_options options{.variant = variant};
  options.exec.target =
      variant == gpu::pair_variant::tiled ? gpu::backend::cpu : gpu::backend::cuda;
  return options;
}
const gpu::pair_options hopper = on(gpu::pair_variant::hopper);
const gpu::pair_options by_cpu = on(gpu::pair_variant::tiled);

std::vector<gpu::edge> edges(const matrix& x, const gpu::pair_options& options,
                             const gpu::pair_filter& keep) {
  return gpu::spearman_all_pairs(x.view(), options, gpu::edge_sink{.keep = keep}).edges.to_vector();
}

void check_same_counts(const matrix& x, const gpu::pair_filter& keep) {
  const gpu::count_sink sink{.keep = keep, .histogram_bins = 77};
  const auto got = gpu::spearman_all_pairs(x.view(), hopper, sink);
  const auto wanted = gpu::spearman_all_pairs(x.view(), by_cpu, sink);
  CHECK(got.kept == wanted.kept);
  CHECK(got.tested == wanted.tested);
  CHECK(got.degree == wanted.degree);
  CHECK(got.histogram == wanted.histogram);
}

// `patterns` different rows, each many times, with every seventh row constant.
matrix repeated_rows(gpu::index_t rows, gpu::index_t cols, gpu::index_t patterns) {
  const matrix distinct = gpu_test::tied_matrix<std::int32_t>(patterns, cols, 9);
  matrix out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = 0; j < cols; ++j) out(i, j) = i % 7 == 6 ? 3 : distinct(i % patterns, j);
  }
  return out;
}

}  // namespace

TEST_CASE("A screen leaves the CPU's edges", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::index_t cols : {5, 16, 29, 30, 31, 32, 33, 64, 65, 96, 97, 127, 128}) {
    for (const gpu::index_t rows : {2, 65, 700, 2500}) {
      const matrix x = gpu_test::tied_matrix<std::int32_t>(rows, cols, 17, 0.95, 6);
      for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
        for (const double p : {1e-5, 1e-8}) {
          INFO(rows << " x " << cols << ", p " << p << ", tail " << static_cast<int>(side));
          const gpu::pair_filter keep{.max_p = p, .side = side};
          CHECK(edges(x, hopper, keep) == edges(x, by_cpu, keep));
        }
      }
    }
  }
}

TEST_CASE("Pairs that sit on the cut are kept by the screen", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const matrix x = gpu_test::tied_matrix<std::int32_t>(1500, 30, 23, 0.9, 4);
  std::vector<gpu::edge> strong = edges(x, by_cpu, {.min_abs = 0.7});
  REQUIRE(strong.size() > 20);
  std::mt19937 engine(4);
  std::shuffle(strong.begin(), strong.end(), engine);
  for (std::size_t i = 0; i < 12; ++i) {
    const gpu::pair_filter keep{.min_abs = std::abs(strong[i].statistic)};
    CHECK(edges(x, hopper, keep) == edges(x, by_cpu, keep));
  }
}

TEST_CASE("A screen counts as the CPU does", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  check_same_counts(gpu_test::tied_matrix<std::int32_t>(3000, 30, 5), {.max_p = 1e-6});
  check_same_counts(gpu_test::tied_matrix<std::int32_t>(3000, 100, 6), {.max_p = 1e-6});
}

TEST_CASE("A loose cut is counted as the tensor variant counts", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::index_t cols : {30, 31, 100, 128}) {
    const matrix x = gpu_test::tied_matrix<std::int32_t>(100300, cols, 5, 0.7, 9);
    const gpu::count_sink sink{.keep = {.max_p = 0.05}};
    const auto got = gpu::spearman_all_pairs(x.view(), hopper, sink);
    const auto wanted = gpu::spearman_all_pairs(x.view(), on(gpu::pair_variant::tensor), sink);
    INFO(cols << " columns");
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
  }
}

TEST_CASE("A result too dense for a screen is complete all the same", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const matrix x = repeated_rows(6000, 30, 40);
  check_same_counts(x, {.min_abs = 0.95});
  CHECK(edges(x, hopper, {.min_abs = 0.95}) == edges(x, by_cpu, {.min_abs = 0.95}));
  // Enough pairs for the screen to notice, and give up.
  const matrix large = repeated_rows(60000, 30, 40);
  const gpu::count_sink sink{.keep = {.min_abs = 0.95}};
  CHECK(gpu::spearman_all_pairs(large.view(), hopper, sink).degree ==
        gpu::spearman_all_pairs(large.view(), on(gpu::pair_variant::tensor), sink).degree);
}

TEST_CASE("A screen streams what it keeps in batches, in any order", "[spearman][screen]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const matrix x = gpu_test::tied_matrix<std::int32_t>(2500, 30, 17, 0.95, 6);
  const gpu::pair_filter keep{.max_p = 1e-6};
  std::vector<gpu::edge> got;
  gpu::spearman_all_pairs(x.view(), hopper,
                          gpu::stream_sink{.keep = keep,
                                           .consume =
                                               [&](std::span<const gpu::edge> batch) {
                                                 CHECK(batch.size() <= 10);
                                                 got.insert(got.end(), batch.begin(), batch.end());
                                               },
                                           .order = gpu::edge_order::unspecified,
                                           .batch_edges = 10});
  std::sort(got.begin(), got.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  });
  CHECK(got == edges(x, by_cpu, keep));
}
