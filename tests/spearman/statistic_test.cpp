// The one definition of rho and of the bin of a statistic: the loops of each instruction set give
// the same bits, and bins are what the public headers promise. Run once per instruction set.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/bins.hpp"
#include "stats/rank_squares.hpp"
#include "stats/statistic.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

// Sums of products with one row, each with the square sum of its column.
struct products {
  std::vector<std::int32_t> sums;
  std::vector<std::int32_t> square_sums;
};

// All sums that two rows of these square sums can have, and the next ones, which are clipped.
products all_products(std::int32_t square_row, std::int32_t most_square) {
  products out;
  for (std::int32_t square = 1; square <= most_square; ++square) {
    const auto bound =
        static_cast<std::int32_t>(std::sqrt(static_cast<double>(square_row) * square)) + 1;
    for (std::int32_t sum = -bound; sum <= bound; ++sum) {
      out.sums.push_back(sum);
      out.square_sums.push_back(square);
    }
  }
  return out;
}

// Sums of long rows, whose products of square sums do not fit a double.
products large_products(std::int32_t square_row) {
  std::mt19937 random(11);
  products out;
  for (int i = 0; i < 4000; ++i) {
    const auto square = static_cast<std::int32_t>(1 + random() % 0x7ffffffeU);
    const double bound = std::sqrt(static_cast<double>(square_row) * square);
    const auto sum = static_cast<std::int32_t>(bound) - static_cast<std::int32_t>(random() % 3);
    out.sums.push_back(i % 2 == 0 ? sum : -sum);
    out.square_sums.push_back(square);
  }
  return out;
}

void check_rho(std::int32_t square_row, const products& with) {
  std::vector<double> found(with.sums.size());
  gpu::cpu::usable_pair_kernels().rho(with.sums.data(), square_row, with.square_sums.data(),
                                      static_cast<index_t>(found.size()), found.data());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double wanted = gpu::detail::rho_of(with.sums[i], square_row, with.square_sums[i]);
    if (bits(found[i]) != bits(wanted)) {
      FAIL("rho of " << with.sums[i] << " and squares " << square_row << ", " << with.square_sums[i]
                     << " is " << found[i] << ", wanted " << wanted);
    }
  }
}

// The pairs of a row that a cut keeps, where the filter before the definition lets all pass.
void check_select(std::int32_t square_row, const products& with, double at_least, double at_most) {
  constexpr index_t most = gpu::cpu::most_selected;
  const std::vector<float> no_scale(static_cast<std::size_t>(most), 0.0F);
  std::vector<gpu::cpu::pair_hit> hits(static_cast<std::size_t>(most + gpu::cpu::hit_padding));
  for (std::size_t first = 0; first < with.sums.size(); first += most) {
    const std::size_t count = std::min<std::size_t>(most, with.sums.size() - first);
    const gpu::cpu::sum_row row{.sums = with.sums.data() + first,
                                .count = static_cast<index_t>(count),
                                .row = 3,
                                .col = 1000,
                                .row_cut = 0,
                                .col_scale = no_scale.data(),
                                .band = std::numeric_limits<float>::max(),
                                .sign_flip = 0,
                                .sign_keep = 0xffffffffU,
                                .square_row = static_cast<double>(square_row),
                                .square_cols = with.square_sums.data() + first,
                                .at_least = at_least,
                                .at_most = at_most};
    const index_t kept = gpu::cpu::usable_pair_kernels().select(row, hits.data());
    index_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double rho =
          gpu::detail::rho_of(with.sums[first + i], square_row, with.square_sums[first + i]);
      if (!(rho >= at_least || rho <= at_most)) continue;
      REQUIRE(next < kept);
      const gpu::cpu::pair_hit& hit = hits[static_cast<std::size_t>(next++)];
      if (hit.row != 3 || hit.col != 1000 + i || bits(hit.statistic) != bits(rho)) {
        FAIL("hit " << next << " of " << kept << " is column " << hit.col << " with "
                    << hit.statistic << ", wanted " << 1000 + i << " with " << rho);
      }
    }
    REQUIRE(next == kept);
  }
}

}  // namespace

TEST_CASE("rho of every pair of small square sums is the definition's on this instruction set") {
  for (std::int32_t square_row = 1; square_row <= 60; ++square_row) {
    check_rho(square_row, all_products(square_row, 60));
  }
  for (const std::int32_t square_row : {1, 699008, 0x7ffffffe}) {
    check_rho(square_row, large_products(square_row));
  }
}

TEST_CASE("a cut that is a statistic keeps what the definition keeps") {
  for (const std::int32_t square_row : {2, 7, 10, 28, 60}) {
    const products with = all_products(square_row, 40);
    for (const std::int32_t square : {1, 3, 10, 39}) {
      for (std::int32_t sum = 0; sum <= square; ++sum) {
        const double cut = gpu::detail::rho_of(sum, square_row, square);
        check_select(square_row, with, cut, -cut);
        check_select(square_row, with, std::nextafter(cut, 2.0), -2.0);
        check_select(square_row, with, 2.0, std::nextafter(-cut, -2.0));
      }
    }
  }
}

TEST_CASE("a histogram's bin is the floor that count_sink documents") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> statistic(-1.0, 1.0);
  for (const index_t bins : {index_t{1}, index_t{2}, index_t{3}, index_t{7}, index_t{40},
                             index_t{999}, gpu::detail::most_bins}) {
    const auto wanted = [&](double r) {
      const auto bin = static_cast<index_t>(std::floor((r + 1) * static_cast<double>(bins) / 2));
      return bin < bins ? bin : bins - 1;
    };
    std::vector<double> values{-1.0, -0.0, 0.0, 1.0};
    for (int i = 0; i < 2000; ++i) values.push_back(statistic(random));
    for (index_t edge = 0; edge <= bins; edge += 1 + bins / 500) {
      const double at = 2.0 * static_cast<double>(edge) / static_cast<double>(bins) - 1.0;
      for (const double r : {std::nextafter(at, -2.0), at, std::nextafter(at, 2.0)}) {
        if (r >= -1 && r <= 1) values.push_back(r);
      }
    }
    for (const double r : values) {
      INFO(r << " of " << bins << " bins");
      REQUIRE(gpu::detail::histogram_bin(r, bins) == wanted(r));
    }
  }
}

TEST_CASE("the place of a key says on which side of the bounds it is") {
  const double low = 0.25;
  const double high = 0.75;
  const index_t bins = 8;
  const double scale = static_cast<double>(bins) / (high - low);
  const auto place = [&](double key) {
    return gpu::detail::bin_place(key, low, high, scale, bins);
  };
  CHECK(place(std::nextafter(low, 0.0)) == 0);
  CHECK(place(-1) == 0);
  CHECK(place(low) == 1);
  CHECK(place(std::nextafter(low + 1 / scale, 0.0)) == 1);
  CHECK(place(low + 1 / scale) == 2);
  CHECK(place(std::nextafter(high, 0.0)) == bins);
  CHECK(place(high) == bins + 1);
  CHECK(place(1) == bins + 1);
}

TEST_CASE("the sum of squares of untied ranks is exact as long as it fits 63 bits") {
  for (const index_t cols : {0, 1, 2, 3, 4, 5, 30, 128, 1290}) {
    std::int64_t sum = 0;
    for (index_t u = 1 - cols; u < cols; u += 2) sum += u * u;
    CHECK(gpu::stats::untied_rank_squares(cols) == sum);
  }
  // From 2,097,153 columns on m (m^2 - 1), before it is divided by 3, has more than 63 bits.
  CHECK(gpu::stats::untied_rank_squares(2'097'152) == 3'074'457'345'617'559'552);
  CHECK(gpu::stats::untied_rank_squares(2'097'153) == 3'074'461'743'666'167'808);
  CHECK(gpu::stats::untied_rank_squares(2'097'154) == 3'074'466'141'718'970'370);
  CHECK(gpu::stats::untied_rank_squares(3'024'616) == 9'223'366'814'367'850'760);
}
