// The CPU scales rows to the bits of the one definition that CUDA compiles, too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cpu/pairs/rows/unit_row.hpp"
#include "support/catch.hpp"

using gpu::index_t;

namespace {

void check_row(const std::vector<double>& values, gpu::detail::row_centre centre) {
  const auto cols = static_cast<index_t>(values.size());
  const index_t stride = (cols + 7) / 8 * 8;
  std::vector<double> wanted(static_cast<std::size_t>(stride));
  const auto kind = gpu::detail::scale_unit_row(values.data(), cols, centre, wanted.data());
  // On the boundary of a vector, as rows are.
  std::vector<double> memory(static_cast<std::size_t>(stride) + 8);
  double* row = memory.data();
  while (reinterpret_cast<std::uintptr_t>(row) % 64 != 0) ++row;
  std::copy(values.begin(), values.end(), row);
  const auto is_made_of = [&](const auto* from) {
    const auto got =
        gpu::cpu::make_unit_row(gpu::cpu::usable_pair_kernels(), centre, from, row, cols);
    CHECK(got == kind);
    if (kind != gpu::detail::row_kind::ordinary) return;
    CHECK(std::memcmp(row, wanted.data(), static_cast<std::size_t>(stride) * sizeof(double)) == 0);
  };
  is_made_of(static_cast<const double*>(row));  // in place
  std::fill(row, row + stride, 7.0);
  is_made_of(values.data());
  const std::vector<float> floats(values.begin(), values.end());
  if (!std::equal(values.begin(), values.end(), floats.begin())) return;
  std::fill(row, row + stride, 7.0);
  is_made_of(floats.data());
}

void check_row(const std::vector<double>& values) {
  check_row(values, gpu::detail::row_centre::mean);
  check_row(values, gpu::detail::row_centre::none);
}

}  // namespace

TEST_CASE("Rows are scaled to the bits of their definition", "[pearson]") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (index_t cols = 1; cols < 70; ++cols) {
    for (const double factor : {1.0, 1e-300, 1e300, 5e-324, 1e-5}) {
      for (const double offset : {0.0, 1.0, 1e8}) {
        INFO(cols << " columns, factor " << factor << ", offset " << offset);
        std::vector<double> row(static_cast<std::size_t>(cols));
        for (double& x : row) x = uniform(random) * factor + offset;
        check_row(row);
        // As floats, too.
        for (double& x : row) x = static_cast<float>(x);
        check_row(row);
      }
    }
  }
}

TEST_CASE("Rows of several slices are scaled to the bits of their definition", "[pearson]") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const index_t cols : {16'384, 16'385, 20'479, 20'480, 20'487, 33'001}) {
    INFO(cols << " columns");
    std::vector<double> row(static_cast<std::size_t>(cols));
    for (double& x : row) x = uniform(random) + 3;
    check_row(row);
  }
}

TEST_CASE("A long row is added up slice by slice", "[pearson]") {
  const auto value = [](index_t k) { return std::sin(static_cast<double>(k)) + 0.1; };
  const auto lane_of = [&](index_t lane, index_t begin, index_t end, bool squares) {
    double sum = 0;
    for (index_t k = begin + lane; k < end; k += 8) {
      sum = squares ? std::fma(value(k), value(k), sum) : sum + value(k);
    }
    return sum;
  };
  for (const index_t cols : {5, 9'000, 16'384, 16'385, 20'480, 50'003}) {
    for (const bool squares : {false, true}) {
      double s[8];
      for (index_t lane = 0; lane < 8; ++lane) {
        const index_t slice = cols > 16'384 ? 4096 : cols;
        double sum = lane_of(lane, 0, slice, squares);
        for (index_t begin = slice; begin < cols; begin += slice) {
          sum += lane_of(lane, begin, std::min(begin + slice, cols), squares);
        }
        s[lane] = sum;
      }
      const double wanted = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
      INFO(cols << " columns");
      CHECK((squares ? gpu::detail::ordered_dot(cols, value, value)
                     : gpu::detail::ordered_sum(cols, value)) == wanted);
    }
  }
}

TEST_CASE("Rows without a statistic are told apart", "[pearson]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  check_row({1, 1, 1, 1});
  check_row({0.0, -0.0, 0.0, 0.0, -0.0});
  check_row({1, 2, infinity, 3});
  check_row({-infinity, 1, 1});
  check_row({nan, nan, nan});
  check_row({1, 1, 1, 1, 1, 1, 1, 1, 1, nan});
  check_row({1e308, -1e308, 1.7976931348623157e308, 0});
  check_row({1, 1 + 0x1p-52, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}
