// The CPU pair engine against its own naive variant, where sizes and values are special. Run once
// per instruction set; pair_ways_test.cpp has random jobs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "pairs/measure_calls.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/same_or_nan.hpp"

namespace {

using gpu::index_t;
using gpu_test::spearman;

gpu::pair_options cpu_options(gpu::pair_variant variant, int threads = 2) {
  gpu::pair_options out;
  out.variant = variant;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = threads;
  return out;
}

// Rows in families of seven around a common profile, some of opposite sign, so that statistics lie
// on both sides of every cut. The first row has one value that differs: the longest element a unit
// row can have.
gpu::matrix<std::int32_t> family_rows(index_t rows, index_t cols, unsigned seed, int values) {
  std::mt19937 random(seed);
  gpu::matrix<std::int32_t> out(rows, cols);
  std::vector<std::int32_t> profile(static_cast<std::size_t>(cols));
  for (index_t i = 0; i < rows; ++i) {
    if (i % 7 == 0) {
      for (auto& value : profile) value = static_cast<std::int32_t>(random() % 1000);
    }
    const auto noise = 1 + static_cast<std::int32_t>(random() % 700);
    const std::int32_t sign = random() % 3 == 0 ? -1 : 1;
    for (index_t k = 0; k < cols; ++k) {
      const auto value = profile[static_cast<std::size_t>(k)] +
                         static_cast<std::int32_t>(random() % static_cast<unsigned>(noise));
      out(i, k) = sign * (values == 0 ? value : value * values / 2000);
    }
  }
  for (index_t k = 0; k < cols; ++k) out(0, k) = k == 3 ? 1 : 0;
  return out;
}

}  // namespace

TEST_CASE("More columns than one task takes keep their pairs", "[correlation]") {
  const auto data = family_rows(8400, 24, 4, 0);
  const gpu::pair_filter keep{.min_abs = 0.95};
  const auto wanted =
      spearman(data.view(), cpu_options(gpu::pair_variant::naive, 0), gpu::edge_sink{.keep = keep});
  const auto got =
      spearman(data.view(), cpu_options(gpu::pair_variant::tiled, 0), gpu::edge_sink{.keep = keep});
  REQUIRE(wanted.edges.size() > 1000);
  CHECK(got.edges == wanted.edges);
}

TEST_CASE("Dense statistics of any values have the bits of the naive variant", "[correlation]") {
  // Where products have no fused instruction they are put together from halves, which must see sums
  // in the middle between two doubles, and values whose products would leave the range of that.
  std::mt19937 random(15);
  std::normal_distribution<double> normal;
  const auto power = [&](int range) {
    return std::ldexp(1.0, static_cast<int>(random() % static_cast<unsigned>(2 * range)) - range);
  };
  const auto check = [&](index_t rows, index_t cols, const auto& value) {
    INFO(rows << " x " << cols);
    gpu::matrix<double> data(rows, cols);
    for (index_t i = 0; i < rows; ++i) {
      for (index_t k = 0; k < cols; ++k) data(i, k) = value(i, k);
    }
    const gpu::matrix_view<const double> view = data.view();
    for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::cosine}) {
      const auto wanted =
          gpu::all_pairs(what, view, cpu_options(gpu::pair_variant::naive), gpu::dense_sink{});
      const auto got =
          gpu::all_pairs(what, view, cpu_options(gpu::pair_variant::tiled), gpu::dense_sink{});
      CHECK(gpu_test::same_bits(got, wanted));
    }
  };
  // Products below the least normal double, alone in their sums.
  check(41, 24, [&](index_t i, index_t k) {
    return k == 1 + i % 7 ? 1.0 : (k == 8 ? std::ldexp(normal(random), -520) : 0.0);
  });
  for (const index_t cols : {index_t{37}, index_t{603}, index_t{1203}}) {
    check(41, cols, [&](index_t, index_t) { return normal(random); });
    check(41, cols, [&](index_t, index_t) { return power(30); });
    check(41, cols, [&](index_t, index_t) { return normal(random) * power(500); });
    check(41, cols, [&](index_t i, index_t) { return i % 2 == 0 ? power(1000) : normal(random); });
    check(41, cols, [&](index_t, index_t) { return static_cast<double>(random() % 3); });
  }
}

TEST_CASE("Cosine of a sum just beyond the middle between two doubles", "[correlation]") {
  // Both rows keep their values: their lengths are 1. The product of the last values is 2^-55 and
  // 2^-115, so 1/4 and that product is nearer to what follows 1/4.
  gpu::matrix<double> data(2, 24);
  std::fill_n(data.data(), 48, 0.0);
  data(0, 0) = 1;
  data(0, 16) = std::ldexp(1 + 0x1p-20, -27);
  for (index_t k = 0; k < 16; ++k) data(1, k) = 0.25;
  data(1, 16) = std::ldexp(1 - 0x1p-20 + 0x1p-40, -28);
  const auto got = gpu::all_pairs(gpu::measure::cosine, std::as_const(data).view(),
                                  cpu_options(gpu::pair_variant::tiled), gpu::dense_sink{});
  CHECK(got(0, 1) == std::nextafter(0.25, 1.0));
}

// Equal and reversed rows have the largest sums.
TEST_CASE("Spearman of equal and reversed wide rows is 1 and -1", "[wide]") {
  for (const index_t cols : {513, 8192, 16384, 23170, 23171, 32768, 32769, 400'001}) {
    CAPTURE(cols);
    gpu::matrix<std::int32_t> data(cols < 50'000 ? 20 : 4, cols);
    for (index_t i = 0; i < data.rows(); ++i) {
      for (index_t j = 0; j < cols; ++j) {
        data(i, j) = static_cast<std::int32_t>(i % 2 == 0 ? j : cols - j);
      }
    }
    const auto dense =
        gpu::all_pairs(gpu::measure::spearman, data, cpu_options(gpu::pair_variant::tiled));
    bool same = true;
    for (index_t i = 0; i < data.rows(); ++i) {
      for (index_t j = 0; j < data.rows(); ++j) {
        same = same && dense(i, j) == ((i + j) % 2 == 0 ? 1.0 : -1.0);
      }
    }
    CHECK(same);
  }
}
