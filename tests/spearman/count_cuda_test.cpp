// Loose cuts on a device with warpgroup tensor cores: every pair is decided and binned by its exact
// integer sum, and the answer is the CPU's whatever the classes of equal square sums look like.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using matrix = gpu::matrix<std::int32_t>;

gpu::pair_counts counts(const matrix& x, gpu::pair_variant variant, const gpu::count_sink& sink) {
  gpu::pair_options options{.variant = variant};
  options.exec.target =
      variant == gpu::pair_variant::tiled ? gpu::backend::cpu : gpu::backend::cuda;
  return gpu::spearman_all_pairs(x.view(), options, sink);
}

// `wanted`: the variant to agree with.
void check_same(const matrix& x, gpu::pair_variant wanted, const gpu::pair_filter& keep,
                gpu::index_t bins) {
  INFO(x.rows() << " x " << x.cols() << ", " << bins << " bins, p " << keep.max_p << ", least "
                << keep.min_abs << ", tail " << static_cast<int>(keep.side));
  const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
  const auto a = counts(x, gpu::pair_variant::hopper, sink);
  const auto b = counts(x, wanted, sink);
  CHECK(a.kept == b.kept);
  CHECK(a.tested == b.tested);
  CHECK(a.degree == b.degree);
  CHECK(a.histogram == b.histogram);
}

// Ranks without ties: one class.
matrix permutations(gpu::index_t rows, gpu::index_t cols) {
  matrix out(rows, cols);
  std::mt19937_64 engine(7);
  std::vector<std::int32_t> row(static_cast<std::size_t>(cols));
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = static_cast<std::int32_t>(k);
    std::shuffle(row.begin(), row.end(), engine);
    std::copy(row.begin(), row.end(), &out(i, 0));
  }
  return out;
}

// Classes of 1, 2, 4, ... rows in mixed order, some rows constant: a class is a set of tie groups,
// row by row in another order.
matrix classes_of_all_sizes(gpu::index_t rows, gpu::index_t cols) {
  matrix out(rows, cols);
  std::mt19937_64 engine(11);
  std::vector<std::int32_t> row(static_cast<std::size_t>(cols));
  for (gpu::index_t i = 0; i < rows; ++i) {
    // Half of the rows have no ties, a quarter one pair of equal values, and so on.
    int ties = 0;
    for (std::uint64_t draw = engine(); ties < cols - 1 && (draw & 1U) != 0; draw >>= 1) ++ties;
    if (i % 97 == 5) ties = static_cast<int>(cols) - 1;
    for (int k = 0; k < cols; ++k) row[static_cast<std::size_t>(k)] = std::max(k, ties);
    std::shuffle(row.begin(), row.end(), engine);
    std::copy(row.begin(), row.end(), &out(i, 0));
  }
  return out;
}

constexpr auto tiled = gpu::pair_variant::tiled;
constexpr auto mma = gpu::pair_variant::tensor;

}  // namespace

TEST_CASE("Loose cuts are counted as the CPU counts", "[spearman][count]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::index_t cols : {5, 16, 30, 31, 32, 33, 64, 65, 96, 100, 128}) {
    for (const gpu::index_t rows : {2, 63, 257, 1500}) {
      check_same(permutations(rows, cols), tiled, {.max_p = 0.05}, 77);
      check_same(classes_of_all_sizes(rows, cols), tiled, {.max_p = 0.2}, 16);
    }
  }
  check_same(gpu_test::tied_matrix<std::int32_t>(3000, 30, 5, 0.95, 6), tiled, {.max_p = 0.05}, 1);
}

TEST_CASE("Loose one-sided cuts are counted as the CPU counts", "[spearman][count]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::tail side : {gpu::tail::greater, gpu::tail::less}) {
    check_same(classes_of_all_sizes(1200, 30), tiled, {.max_p = 0.05, .side = side}, 77);
    check_same(permutations(1200, 30), tiled, {.max_p = 0.3, .side = side}, 500);
    check_same(permutations(1200, 70), tiled, {.max_p = 0.05, .side = side}, 0);
  }
}

TEST_CASE("Pairs on the cut and on the edges of bins count on the right side",
          "[spearman][count]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::index_t cols : {9, 30, 40}) {
    const matrix x = classes_of_all_sizes(900, cols);
    const gpu::matrix<double> rho = gpu::spearman_all_pairs(x.view());
    std::mt19937 engine(3);
    for (int i = 0; i < 12; ++i) {
      const auto a = static_cast<gpu::index_t>(engine() % 900);
      const auto b = static_cast<gpu::index_t>(engine() % 900);
      const double cut = std::abs(rho(a, b));
      if (!(cut > 0.1 && cut < 0.6)) continue;
      check_same(x, tiled, {.max_p = 1, .min_abs = cut}, 20);
      check_same(x, tiled, {.max_p = 1, .min_abs = std::nextafter(cut, 1.0)}, 20);
      check_same(x, tiled, {.max_p = 1, .min_abs = cut, .side = gpu::tail::greater}, 10);
    }
    // 1 - 6 d / (n (n^2 - 1)): with these bins many statistics are an edge or next to one.
    for (const gpu::index_t bins : {2, 10, 120, 8990, 65536}) {
      check_same(x, tiled, {.max_p = 1, .min_abs = 0.2}, bins);
    }
  }
}

TEST_CASE("Many rows of many classes are counted as the tensor variant counts",
          "[spearman][count]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  for (const gpu::index_t cols : {30, 100}) {
    check_same(gpu_test::tied_matrix<std::int32_t>(100300, cols, 5, 0.7, 9), mma, {.max_p = 0.05},
               cols == 30 ? 1000 : 0);
  }
  check_same(classes_of_all_sizes(70000, 30), mma, {.max_p = 0.05, .side = gpu::tail::less}, 1000);
}

TEST_CASE("The passes of Benjamini and Hochberg find the cut that the tensor variant finds",
          "[spearman][count]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const matrix x = gpu_test::tied_matrix<std::int32_t>(20000, 30, 9, 0.97, 3);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    check_same(x, mma, {.max_p = 0.05, .side = side, .adjust = gpu::adjustment::benjamini_hochberg},
               50);
  }
}
