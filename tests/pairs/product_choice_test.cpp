// Whether long rows are decided by products, over the whole plane of shapes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/products/product_choice.hpp"
#include "plan/products/product_policy.hpp"
#include "support/catch.hpp"

using namespace gpu::detail;
using gpu::index_t;

namespace {

constexpr int multiprocessors = 132;
constexpr product_kind kinds[] = {product_kind::of_values, product_kind::of_limbs,
                                  product_kind::of_halves};

product_shape table(index_t rows, index_t observations, product_kind kind) {
  return {
      .rows = rows, .cols = rows, .observations = observations, .kind = kind, .is_against = false};
}

// rows 2 to 1e7, observations 3 to 1e6, four a decade.
template <class Check>
void over_the_plane(const Check& check) {
  for (double rows = 2; rows < 1.2e7; rows *= 1.78) {
    for (double observations = 3; observations < 1.2e6; observations *= 1.78) {
      for (const product_kind kind : kinds) {
        INFO(rows << " x " << observations << ", kind " << static_cast<int>(kind));
        check(table(static_cast<index_t>(rows), static_cast<index_t>(observations), kind));
      }
    }
  }
}

}  // namespace

TEST_CASE("Both ways take finite time, more for more work", "[product_choice]") {
  over_the_plane([](const product_shape& shape) {
    const double products = product_seconds(shape, multiprocessors);
    const double tiles = tile_seconds(shape, multiprocessors);
    CHECK(std::isfinite(products));
    CHECK(products > 0);
    CHECK(std::isfinite(tiles));
    CHECK(tiles > 0);
    product_shape more = shape;
    more.rows *= 2;
    more.cols *= 2;
    CHECK(product_seconds(more, multiprocessors) >= products * 0.99);
    CHECK(tile_seconds(more, multiprocessors) >= tiles * 0.99);
    // A device of twice as many multiprocessors is not slower.
    CHECK(product_seconds(shape, 2 * multiprocessors) <= products * 1.01);
    CHECK(tile_seconds(shape, 2 * multiprocessors) <= tiles * 1.01);
  });
}

TEST_CASE("The way that is chosen takes the least time", "[product_choice]") {
  over_the_plane([](const product_shape& shape) {
    const double products = product_seconds(shape, multiprocessors);
    const double tiles = tile_seconds(shape, multiprocessors);
    const double chosen = takes_products(shape, multiprocessors) ? products : tiles;
    CHECK(chosen <= std::min(products, tiles));
  });
}

TEST_CASE("A machine with slow memory decides by tiles, one with slow tiles by products",
          "[product_choice]") {
  cuda_costs slow_memory;
  slow_memory.memory_rate = 1;
  cuda_costs slow_tiles;
  slow_tiles.two_limb_rate = slow_tiles.three_limb_rate = slow_tiles.float_rate = 1;
  over_the_plane([&](const product_shape& shape) {
    CHECK_FALSE(takes_products(shape, multiprocessors, slow_memory));
    CHECK(takes_products(shape, multiprocessors, slow_tiles));
  });
}

TEST_CASE("Halves are taken where they take the least time and rows fill a tile",
          "[product_choice]") {
  over_the_plane([](const product_shape& shape) {
    if (shape.kind != product_kind::of_values) return;
    product_shape halves = shape;
    halves.kind = product_kind::of_halves;
    const double seconds = product_seconds(halves, multiprocessors);
    const bool takes = takes_halves(shape, multiprocessors);
    if (takes) {
      CHECK(seconds < product_seconds(shape, multiprocessors));
      CHECK(seconds < tile_seconds(shape, multiprocessors));
    }
    if (shape.rows < 192 || shape.observations < 96) CHECK_FALSE(takes);
    // Whatever is multiplied, single precision is not slower than double precision for real work.
    if (shape.rows >= 400 && shape.observations >= 1000) CHECK(takes);
  });
}

TEST_CASE("The more halves save, the more pairs may be computed anew", "[product_choice]") {
  using gpu::detail::most_computed_anew;
  cuda_costs fast_halves;
  fast_halves.saved_column *= 2;
  cuda_costs slow_memory;
  slow_memory.anew_column *= 2;
  CHECK(most_computed_anew(fast_halves) > most_computed_anew());
  CHECK(most_computed_anew(slow_memory) < most_computed_anew());
  // Up to there halves take less time.
  const cuda_costs machine;
  CHECK(most_computed_anew() * machine.anew_column < machine.saved_column);
}

TEST_CASE("The share of pairs near a cut grows with the error, and where statistics are",
          "[product_choice]") {
  using gpu::detail::keep_range;
  using gpu::detail::share_near_cut;
  const keep_range loose{.at_least = 0.04, .at_most = -0.04};
  const keep_range strict{.at_least = 0.9, .at_most = -0.9};
  const keep_range one_side{.at_least = 0.04, .at_most = -2};
  CHECK(share_near_cut(loose, 2000, 2e-5) == 2 * share_near_cut(loose, 2000, 1e-5));
  CHECK(share_near_cut(loose, 2000, 2e-5) == 2 * share_near_cut(one_side, 2000, 2e-5));
  CHECK(share_near_cut(loose, 2000, 2e-5) > share_near_cut(strict, 2000, 2e-5));
  // Statistics of rows that move together may lie at any cut.
  CHECK(share_near_cut(strict, 2000, 2e-5) >= 4 * 2e-5);
  // No pair is near cuts that no statistic reaches.
  CHECK(share_near_cut({.at_least = 2, .at_most = -2}, 2000, 2e-5) == 0);
  // The density of independent rows by another way: what the distribution function grows by.
  const double below = std::erf((0.04 - 1e-5) * std::sqrt(2000.0 / 2));
  const double above = std::erf((0.04 + 1e-5) * std::sqrt(2000.0 / 2));
  CHECK(std::abs(share_near_cut(loose, 2000, 1e-5) - (above - below)) < 1e-8);
}

TEST_CASE("x against y is all of an area, one table its half", "[product_choice]") {
  for (const product_kind kind : kinds) {
    product_shape shape = table(20'000, 1000, kind);
    const double tiles = tile_seconds(shape, multiprocessors);
    const double products = product_seconds(shape, multiprocessors);
    shape.is_against = true;
    CHECK(tile_seconds(shape, multiprocessors) == Approx(2 * tiles).epsilon(0.01));
    CHECK(product_seconds(shape, multiprocessors) == Approx(2 * products).epsilon(0.01));
  }
  // Rows fill a tile on both sides.
  product_shape shape = table(20'000, 5000, product_kind::of_values);
  shape.is_against = true;
  CHECK(takes_halves(shape, multiprocessors));
  shape.cols = 191;
  CHECK_FALSE(takes_halves(shape, multiprocessors));
  std::swap(shape.rows, shape.cols);
  CHECK_FALSE(takes_halves(shape, multiprocessors));
}

TEST_CASE("Few long rows take products, many short ones tiles", "[product_choice]") {
  for (const product_kind kind : kinds) {
    for (const auto& [rows, observations] : {std::pair<index_t, index_t>{400, 100'000},
                                             {1000, 1200},
                                             {1000, 20'000},
                                             {2000, 2000},
                                             {2000, 100'000},
                                             {5000, 5000}}) {
      INFO(rows << " x " << observations);
      CHECK(takes_products(table(rows, observations, kind), multiprocessors));
    }
  }
  CHECK_FALSE(takes_products(table(1'000'000, 300, product_kind::of_values), multiprocessors));
}

TEST_CASE("Products are for devices that multiply doubles, and for sums that are exact",
          "[product_choice]") {
  for (const product_kind kind : kinds) {
    CHECK(can_take_products(kind, 1000, 90, 90));
    CHECK(can_take_products(kind, 1000, 80, 80));
    CHECK(can_take_products(kind, 1000, 90, 80));
    CHECK_FALSE(can_take_products(kind, 1000, 90, 75));
    for (const int capability : {75, 86, 89, 120}) {
      CHECK_FALSE(can_take_products(kind, 1000, capability, capability));
    }
    CHECK_FALSE(can_take_products(kind, gpu::kernels::policy::product_least_columns - 1, 90, 90));
  }
  const index_t most = gpu::kernels::policy::limb_most_columns;
  CHECK(can_take_products(product_kind::of_limbs, most, 90, 90));
  CHECK_FALSE(can_take_products(product_kind::of_limbs, most + 1, 90, 90));
  CHECK(can_take_products(product_kind::of_values, 2 * most, 90, 90));
  // The largest sum of products of centred ranks fits 63 bits.
  const double ranks = static_cast<double>(most);
  CHECK(ranks * (ranks * ranks - 1) / 3 < 0x1p63);
}
