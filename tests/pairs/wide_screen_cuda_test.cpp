// Strict cuts of rounded rows on a device with warpgroup tensor cores: Spearman of more than 128
// columns and Pearson of any. The screen must leave the CPU's edges, bit for bit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "pairs/cpu_parity.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::pearson_op;
using gpu_test::spearman_op;

bool is_offered() {
  return gpu_test::applies(gpu::pair_variant::hopper);
}

const gpu::pair_options hopper = gpu_test::cuda_options(gpu::pair_variant::hopper);

// The cut that about `sigmas` standard deviations of independent rows stay below.
double cut_of(gpu::index_t cols, double sigmas) {
  return std::min(0.98, sigmas / std::sqrt(static_cast<double>(cols)));
}

// Noise around a few patterns, every row with its own share of it: pairs at every strength.
template <class T>
gpu::matrix<T> related_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed,
                            double scale) {
  gpu::matrix<T> out(rows, cols);
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  const gpu::matrix<double> patterns = gpu_test::random_matrix<double>(16, cols, seed + 1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double share = static_cast<double>(i % 41) / 40;
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double value = share * patterns(i % 16, k) + (1 - share) * normal(engine);
      out(i, k) = static_cast<T>((i % 3 == 0 ? -scale : scale) * value);
    }
  }
  return out;
}

// Cuts that are the statistic of a pair, bit for bit: it is kept, and the next one up is not.
template <class Op, class T>
void check_on_the_cut(const gpu::matrix<T>& x, double least, int cuts) {
  std::vector<gpu::edge> strong =
      Op::run(x, gpu_test::cpu_options(), gpu::edge_sink{.keep = {.min_abs = least}})
          .edges.to_vector();
  REQUIRE(strong.size() > 20);
  std::mt19937 engine(4);
  std::shuffle(strong.begin(), strong.end(), engine);
  for (int i = 0; i < cuts; ++i) {
    const double at = std::abs(strong[static_cast<std::size_t>(i)].statistic);
    gpu_test::check_edges<Op>(x, hopper, {.min_abs = at});
    gpu_test::check_edges<Op>(x, hopper, {.min_abs = std::min(1.0, std::nextafter(at, 2.0))});
  }
}

}  // namespace

TEST_CASE("A screen of wide rows leaves the CPU's edges", "[correlation][screen]") {
  if (!is_offered()) return;
  struct shape {
    gpu::index_t rows, cols;
  };
  for (const shape& s : {shape{2, 129}, shape{191, 192}, shape{193, 200}, shape{900, 129},
                         shape{700, 1000}, shape{1025, 257}, shape{60, 8192}, shape{20, 20000}}) {
    INFO(s.rows << " x " << s.cols);
    const auto tied = gpu_test::tied_matrix<std::int32_t>(s.rows, s.cols, 17, 0.95, 6);
    const auto related = related_rows<std::int32_t>(s.rows, s.cols, 5, 20);
    const double cut = cut_of(s.cols, 6);
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      gpu_test::check_edges<spearman_op>(tied, hopper, {.min_abs = cut, .side = side});
      gpu_test::check_edges<spearman_op>(related, hopper, {.min_abs = cut, .side = side});
    }
    gpu_test::check_counts<spearman_op>(related, hopper, {.min_abs = cut}, 50);
  }
}

TEST_CASE("A screen of unit rows leaves the CPU's edges", "[correlation][screen]") {
  if (!is_offered()) return;
  for (const gpu::index_t cols : {31, 62, 64, 65, 97, 127, 128, 129, 200, 1000}) {
    for (const gpu::index_t rows : {2, 65, 700}) {
      INFO(rows << " x " << cols);
      const auto x = related_rows<float>(rows, cols, 7, 1);
      const double cut = cut_of(cols, 6);
      for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
        gpu_test::check_edges<pearson_op>(x, hopper, {.min_abs = cut, .side = side});
      }
      gpu_test::check_counts<pearson_op>(x, hopper, {.min_abs = cut}, 50);
    }
  }
  gpu_test::check_edges<pearson_op>(related_rows<double>(50, 8192, 7, 1e-300), hopper,
                                    {.min_abs = 0.1});
}

TEST_CASE("Pairs on the cut are kept by the screens of rounded rows", "[correlation][screen]") {
  if (!is_offered()) return;
  for (const gpu::index_t cols : {129, 200, 1000}) {
    check_on_the_cut<spearman_op>(related_rows<std::int32_t>(500, cols, 11, 9), cut_of(cols, 7), 6);
  }
  for (const gpu::index_t cols : {31, 62, 127, 128, 129, 200, 1000}) {
    check_on_the_cut<pearson_op>(related_rows<float>(500, cols, 11, 1), cut_of(cols, 6), 6);
  }
}

TEST_CASE("Rows that lose most to rounding keep their edges", "[correlation][screen]") {
  if (!is_offered()) return;
  for (const gpu::index_t cols : {64, 200, 1000}) {
    INFO(cols << " columns");
    // An element that dwarfs the rest, so that most of a row rounds to nothing or to halves of a
    // step; rows that agree in it and in little else; rows of very different range.
    gpu::matrix<double> x = related_rows<double>(400, cols, 3, 1);
    std::mt19937_64 engine(8);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (gpu::index_t i = 0; i < x.rows(); ++i) {
      if (i % 4 == 0) x(i, i % cols) = 60.0 * uniform(engine);
      if (i % 4 == 1) x(i, 5) = i % 8 == 1 ? 300 : -200;
      if (i % 4 == 2) {
        for (gpu::index_t k = 0; k < cols; ++k) {
          x(i, k) = k == 0 ? 127.0 : (k % 2 == 0 ? 0.4999999 : -0.5000001) + 3 * (k % 5 == i % 5);
        }
      }
      if (i % 9 == 0) {
        for (gpu::index_t k = 0; k < cols; ++k) x(i, k) *= i % 2 == 0 ? 1e200 : 1e-200;
      }
    }
    for (const double cut : {0.25, 0.5, 0.9, 0.99, 0.999999}) {
      gpu_test::check_edges<pearson_op>(x, hopper, {.min_abs = cut});
    }
    check_on_the_cut<pearson_op>(x, 0.5, 4);
  }
}

TEST_CASE("Rows without a statistic are no screen's", "[correlation][screen]") {
  if (!is_offered()) return;
  for (const gpu::index_t cols : {70, 300}) {
    gpu::matrix<float> x = related_rows<float>(500, cols, 21, 1);
    for (gpu::index_t i = 0; i < x.rows(); i += 5) {
      for (gpu::index_t k = 0; k < cols; ++k) x(i, k) = 4;
      if (i % 10 == 0) x(i, 3) = std::numeric_limits<float>::infinity();
    }
    gpu_test::check_edges<pearson_op>(x, hopper, {.min_abs = 0.6});
    gpu_test::check_edges<spearman_op>(x, hopper, {.min_abs = 0.6});
    x(7, 2) = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(gpu::pearson_all_pairs(x.view(), hopper, gpu::edge_sink{}),
                    gpu::invalid_argument);
    gpu::pair_options propagate = hopper;
    propagate.nans = gpu::nan_policy::propagate;
    const auto got =
        gpu::pearson_all_pairs(x.view(), propagate, gpu::edge_sink{.keep = {.min_abs = 0.6}});
    CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{7});
    for (gpu::index_t i = 0; i < x.rows(); ++i) {
      for (gpu::index_t k = 0; k < cols; ++k) x(i, k) = 1;
    }
    CHECK(gpu::pearson_all_pairs(x.view(), hopper, gpu::edge_sink{.keep = {.min_abs = 0.6}})
              .edges.empty());
  }
}

TEST_CASE("Many equal wide rows overflow a queue and lose nothing", "[correlation][screen]") {
  if (!is_offered()) return;
  gpu::matrix<std::int32_t> x = related_rows<std::int32_t>(3000, 200, 31, 10);
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t k = 0; k < x.cols(); ++k) x(i, k) = x(i % 30, k);
  }
  gpu_test::check_edges<spearman_op>(x, hopper, {.min_abs = 0.9});
  gpu_test::check_edges<pearson_op>(x, hopper, {.min_abs = 0.9});
}

TEST_CASE("Loose cuts of wide rows go to the tiles", "[correlation][screen]") {
  if (!is_offered()) return;
  const auto x = related_rows<float>(600, 300, 41, 1);
  gpu_test::check_edges<spearman_op>(x, hopper, {.max_p = 0.05});
  gpu_test::check_edges<pearson_op>(x, hopper, {.max_p = 0.05});
  gpu_test::check_counts<pearson_op>(x, hopper, {.max_p = 0.05}, 20);
}
