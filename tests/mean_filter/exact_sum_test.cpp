// The sum that rounds once, against sums that are known exactly.
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/mean_filter/exact_sum.hpp"
#include "support/catch.hpp"

namespace {
double sum_of(const std::vector<double>& values) {
  gpu::cpu::exact_sum sum;
  for (const double value : values) sum.add(value);
  return sum.rounded();
}
}  // namespace

TEST_CASE("An exact sum is rounded once, ties to even", "[mean_filter]") {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  constexpr double most = std::numeric_limits<double>::max();
  CHECK(sum_of({}) == 0.0);
  CHECK(sum_of({0.1}) == 0.1);
  CHECK(sum_of({-0.1, 0.1}) == 0.0);
  CHECK(sum_of({1e17, 1, -1e17}) == 1.0);
  CHECK(sum_of({1e300, 1, 1e-300, -1e300}) == 1.0);
  CHECK(sum_of({1, 0x1p-53}) == 1.0);
  CHECK(sum_of({1, 0x1p-53, least}) == 1.0 + 0x1p-52);
  CHECK(sum_of({1, 0x1p-53, -least}) == 1.0);
  CHECK(sum_of({1 + 0x1p-52, 0x1p-53}) == 1.0 + 0x1p-51);
  CHECK(sum_of({-1 - 0x1p-52, -0x1p-53}) == -1.0 - 0x1p-51);
  CHECK(sum_of({2, -0x1p-53}) == 2.0);
  CHECK(sum_of({2, -0x1p-53, -least}) == 2.0 - 0x1p-52);
  CHECK(sum_of({least, least}) == 2 * least);
  CHECK(sum_of({0x1p-1022, -least}) == 0x1p-1022 - least);
  CHECK(sum_of({most, most, -most}) == most);
  CHECK(std::isinf(sum_of({most, most})));
  CHECK(sum_of({-most, -most}) < 0);
  for (int power = -1000; power < 1000; power += 37) {
    const double one = std::ldexp(1.0, power);
    CHECK(sum_of(std::vector<double>(1000, 0.7 * one)) ==
          static_cast<double>(1000.0L * static_cast<long double>(0.7 * one)));
  }
}
