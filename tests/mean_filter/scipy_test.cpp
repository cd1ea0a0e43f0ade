// Results of scipy.ndimage.uniform_filter1d and convolve1d, SciPy 1.17.1, as literals.
#include <cmath>
#include <map>

#include "mean_filter/filter_checks.hpp"

using namespace gpu_test;

namespace {

using row = std::vector<double>;

void check_row(const row& got, const row& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("output " << i);
    CHECK(std::fabs(got[i] - expected[i]) <= 1e-14 * (1 + std::fabs(expected[i])));
  }
}

row filter(const row& in, index_t window, boundary mode, index_t origin = 0) {
  return gpu::mean_filter(std::span(in),
                          {.window = window, .origin = origin, .boundary = mode, .exec = cpu});
}

row convolve(const row& in, const row& weights, boundary mode, index_t origin = 0) {
  row out(in.size());
  gpu::convolve(std::span(in), std::span<const double>(weights), std::span(out),
                {.origin = origin, .boundary = mode, .exec = cpu});
  return out;
}

}  // namespace

TEST_CASE("uniform_filter1d of 1 to 7, size 5, every mode", "[mean_filter][scipy]") {
  const row x{1, 2, 3, 4, 5, 6, 7};
  check_row(filter(x, 5, boundary::zero), {1.2, 2, 3, 4, 5, 4.4, 3.6});
  check_row(filter(x, 5, boundary::reflect), {1.8, 2.2, 3, 4, 5, 5.8, 6.2});
  check_row(filter(x, 5, boundary::nearest), {1.6, 2.2, 3, 4, 5, 5.8, 6.4});
  check_row(filter(x, 5, boundary::mirror), {2.2, 2.4, 3, 4, 5, 5.6, 5.8});
  check_row(filter(x, 5, boundary::wrap), {3.8, 3.4, 3, 4, 5, 4.6, 4.2});
}

TEST_CASE("pandas and NumPy on the same row", "[mean_filter][scipy]") {
  const row x{1, 2, 3, 4, 5, 6, 7};
  check_row(filter(x, 5, boundary::shrink), {2, 2.5, 3, 4, 5, 5.5, 6});
  check_row(filter(x, 5, boundary::valid), {3, 4, 5});
}

TEST_CASE("Origins and even windows", "[mean_filter][scipy]") {
  const row x{1, 2, 3, 4, 5, 6, 7};
  check_row(filter(x, 5, boundary::zero, -2), {3, 4, 5, 4.4, 3.6, 2.6, 1.4});
  check_row(filter(x, 5, boundary::zero, 2), {0.2, 0.6, 1.2, 2, 3, 4, 5});
  check_row(filter(x, 4, boundary::zero), {0.75, 1.5, 2.5, 3.5, 4.5, 5.5, 4.5});
  const row y{1, 4, 2, 8, 5, 7};
  check_row(filter(y, 4, boundary::reflect, -2), {3.75, 4.75, 5.5, 6.75, 6.0, 6.75});
  check_row(filter(y, 4, boundary::reflect, 1), {2.0, 2.5, 2.0, 3.75, 4.75, 5.5});
  check_row(filter(y, 4, boundary::nearest, -2), {3.75, 4.75, 5.5, 6.75, 6.5, 7.0});
  check_row(filter(y, 4, boundary::nearest, 1), {1.0, 1.75, 2.0, 3.75, 4.75, 5.5});
  check_row(filter(y, 4, boundary::mirror, -2), {3.75, 4.75, 5.5, 6.25, 6.25, 5.5});
  check_row(filter(y, 4, boundary::mirror, 1), {3.75, 2.75, 2.75, 3.75, 4.75, 5.5});
  check_row(filter(y, 4, boundary::wrap, -2), {3.75, 4.75, 5.5, 5.25, 4.25, 3.5});
  check_row(filter(y, 4, boundary::wrap, 1), {5.25, 4.25, 3.5, 3.75, 4.75, 5.5});
  check_row(filter(y, 4, boundary::zero, 1), {0.25, 1.25, 1.75, 3.75, 4.75, 5.5});
}

TEST_CASE("Windows longer than the row", "[mean_filter][scipy]") {
  const row x{1, 4, 2, 8};
  check_row(filter(x, 11, boundary::reflect),
            {4.363636363636363, 4.0, 3.3636363636363638, 3.272727272727273});
  check_row(filter(x, 11, boundary::nearest),
            {3.272727272727273, 3.909090909090909, 4.545454545454546, 5.181818181818182});
  check_row(filter(x, 11, boundary::mirror),
            {3.727272727272727, 3.4545454545454546, 3.6363636363636362, 3.090909090909091});
  check_row(filter(x, 11, boundary::wrap),
            {3.909090909090909, 3.3636363636363638, 4.0, 3.727272727272727});
  check_row(filter(x, 11, boundary::zero),
            {1.3636363636363635, 1.3636363636363635, 1.3636363636363635, 1.3636363636363635});
  for (const boundary mode :
       {boundary::reflect, boundary::nearest, boundary::mirror, boundary::wrap}) {
    check_row(filter({3}, 4, mode), {3});
  }
  check_row(filter({3}, 4, boundary::zero), {0.75});
}

TEST_CASE("Integer output truncates toward zero", "[mean_filter][scipy]") {
  const std::vector<std::int32_t> x{-1, -4, 2, 8, -5, -7, -7};
  CHECK(gpu::mean_filter(std::span(x), {.window = 3, .exec = cpu}) ==
        std::vector<std::int32_t>{-2, -1, 2, 1, -1, -6, -7});
  const std::vector<std::uint8_t> y{255, 254, 0, 3, 255};
  CHECK(gpu::mean_filter(std::span(y), {.window = 3, .boundary = boundary::nearest, .exec = cpu}) ==
        std::vector<std::uint8_t>{254, 169, 85, 86, 171});
}

TEST_CASE("convolve1d, odd and even kernels, origins, every mode", "[mean_filter][scipy]") {
  const row x{1, 4, 2, 8, 5, 7};
  const row odd{1, 2, -1};
  const row even{1, 2, -1, 0.5};
  check_row(convolve(x, odd, boundary::reflect), {5, 9, 8, 19, 9, 16});
  check_row(convolve(x, odd, boundary::nearest), {5, 9, 8, 19, 9, 16});
  check_row(convolve(x, odd, boundary::mirror), {2, 9, 8, 19, 9, 14});
  check_row(convolve(x, odd, boundary::wrap), {-1, 9, 8, 19, 9, 10});
  check_row(convolve(x, odd, boundary::zero), {6, 9, 8, 19, 9, 9});
  check_row(convolve(x, even, boundary::reflect, 1), {8.5, 21, 10, 20, 14.5, 14.5});
  check_row(convolve(x, even, boundary::reflect, -2), {0, 7, 9.5, 8.5, 21, 10});
  check_row(convolve(x, even, boundary::nearest, 1), {8.5, 21, 10, 20, 16.5, 17.5});
  check_row(convolve(x, even, boundary::mirror, -2), {11, 3, 11, 8.5, 21, 10});
  check_row(convolve(x, even, boundary::wrap, 1), {8.5, 21, 10, 14, 1.5, 12.5});
  check_row(convolve(x, even, boundary::zero, 1), {8.5, 21, 10, 13, -4.5, 3.5});
  check_row(convolve(x, even, boundary::zero, -2), {1, 6, 9, 8.5, 21, 10});
}
