// The similarity of sets and the screens in front of it: no screen loses a pair that it keeps.
#include "stats/set_similarity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "support/catch.hpp"

namespace {

using gpu::stats::screen_of;
using gpu::stats::set_similarity;
using gpu::stats::set_weights;

// As the backends compare: with one rounding of product and sum, or with two.
bool screens_pass(std::int32_t common, std::int32_t a, std::int32_t b, double least,
                  const set_weights& of = {}) {
  const auto by = screen_of(least, of);
  const auto c = static_cast<float>(common);
  const auto other = static_cast<float>(b);
  const float bound = by.left * static_cast<float>(a);
  const volatile float product = by.right * other;
  return std::fma(-by.right, other, c) >= bound && c - product >= bound;
}

// As ratios of Tanimoto, of `common` of `all`.
double ratio(std::int32_t common, std::int32_t all) {
  return set_similarity(common, common, all, {});
}

bool check_pair(std::int32_t common, std::int32_t a, std::int32_t b) {
  bool all = true;
  for (const set_weights& of : {set_weights{}, set_weights{2, 1, 1}, set_weights{1000, 1, 999'000},
                                set_weights{10, 0, 7}}) {
    const double value = set_similarity(common, a, b, of);
    for (const double less :
         {0.0, value, std::nextafter(value, 0.0), value * 0.5, value * 0.999999}) {
      all = all && screens_pass(common, a, b, less, of);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("Screens keep every pair of small rows", "[tanimoto]") {
  constexpr int most = 40;
  bool all = true;
  for (int a = 0; a <= most; ++a) {
    for (int b = 0; b <= most; ++b) {
      for (int common = 0; common <= std::min(a, b); ++common) {
        all = all && check_pair(common, a, b);
      }
    }
  }
  CHECK(all);
}

TEST_CASE("Screens keep every pair of long rows", "[tanimoto]") {
  std::mt19937_64 engine(3);
  bool all = true;
  for (int trial = 0; trial < 200000; ++trial) {
    const auto cols =
        static_cast<std::int32_t>(engine() % ((std::uint64_t{1} << (1 + engine() % 31)) - 1)) + 1;
    const auto either = static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(cols)) + 1;
    const auto common =
        static_cast<std::int32_t>(engine() % (static_cast<std::uint64_t>(either) + 1));
    const auto alone =
        static_cast<std::int32_t>(engine() % (static_cast<std::uint64_t>(either - common) + 1));
    all = all && check_pair(common, common + alone, either - alone);
  }
  CHECK(all);
}

TEST_CASE("Screens leave little to the exact decision", "[tanimoto]") {
  // A pair whose ratio is a thousandth less than the cut.
  CHECK_FALSE(screens_pass(699, 1000, 699, 0.7));
  CHECK_FALSE(screens_pass(0, 10, 10, 0.01));
  CHECK_FALSE(screens_pass(10, 10, 10, INFINITY));
}

TEST_CASE("Ratios up to 2^26 that differ are doubles that differ", "[tanimoto]") {
  constexpr std::int32_t most = 1 << 26;
  CHECK(ratio(most - 2, most - 1) < ratio(most - 1, most));
  CHECK(ratio(1, most) < ratio(1, most - 1));
  CHECK(ratio(most / 2, most - 1) > ratio(1, 2));
  CHECK(ratio(2, 3) == ratio(most / 3 * 2, most / 3 * 3));
  CHECK(ratio(0, 0) == 0.0);
  constexpr std::int32_t full = 2147483647;
  CHECK(set_similarity(full, full, full, {1000, 1'000'000, 1'000'000}) == 1.0);
  CHECK(set_similarity(1, full, 1, {1000, 1'000'000, 1}) == 1.0 / (1 + 1000.0 * (full - 1)));
}
