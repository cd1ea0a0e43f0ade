// Every type, boundary, origin, window and size of the CPU backend against the oracle.
#include <string>
#include <tuple>

#include "mean_filter/filter_checks.hpp"

namespace {

using namespace gpu_test;

template <class I, class O>
struct types {
  using in = I;
  using out = O;
};

mean_filter_options on_cpu(mean_filter_variant variant, int threads = 2) {
  return {.variant = variant, .exec = {.target = gpu::backend::cpu, .cpu_threads = threads}};
}

}  // namespace

TEMPLATE_TEST_CASE("The mean filter equals direct sums, whatever the window, origin and boundary",
                   "[mean_filter]", (types<double, double>), (types<float, float>),
                   (types<std::int32_t, std::int32_t>), (types<std::int32_t, double>),
                   (types<std::uint8_t, std::uint8_t>), (types<std::uint8_t, double>),
                   (types<std::uint16_t, std::uint16_t>), (types<std::uint16_t, double>),
                   (types<std::int8_t, std::int8_t>), (types<std::int8_t, double>),
                   (types<std::int16_t, std::int16_t>), (types<std::int16_t, double>),
                   (types<float, double>)) {
  using in = typename TestType::in;
  using out = typename TestType::out;
  for (const auto variant : {mean_filter_variant::block_sums, mean_filter_variant::direct}) {
    const auto options = on_cpu(variant, 1);
    for (const index_t size : {1, 2, 3, 8, 31, 64, 300}) {
      for (const index_t window : {1, 2, 3, 5, 8, 9, 16, 23, 64, 101}) {
        check_all_boundaries<in, out>(size, window, options, 11);
      }
    }
    check_all_boundaries<in, out>(1000, 1001, options, 12);
    check_rows<in, out>(5, 37, on_cpu(variant), 13);
  }
}

TEMPLATE_TEST_CASE("Windows of many blocks and several strips", "[mean_filter]", double, float,
                   std::int32_t) {
  auto options = on_cpu(mean_filter_variant::block_sums);
  for (const index_t window : {5, 101, 1001, 4097, 16384, 16392, 33001, 70000}) {
    options.window = window;
    for (const boundary mode : {boundary::zero, boundary::reflect, boundary::shrink}) {
      options.boundary = mode;
      check_vector<TestType, TestType>(100003, options, 21, 1999);
    }
  }
  options.window = 3000;  // rows times strips, more threads than rows
  options.boundary = boundary::valid;
  options.exec.cpu_threads = 3;
  check_rows<TestType, TestType>(2, 3100, options, 22);
}

TEST_CASE("A window far longer than the row", "[mean_filter]") {
  auto options = on_cpu(mean_filter_variant::automatic);
  options.window = (index_t{1} << 31) - 1;
  const std::vector<double> in{1, 2, 3, 4};
  options.boundary = boundary::shrink;
  for (const double mean : gpu::mean_filter(std::span(in), options)) CHECK(mean == 2.5);
  options.boundary = boundary::zero;
  for (const double mean : gpu::mean_filter(std::span(in), options)) {
    CHECK(mean == 10.0 / static_cast<double>(options.window));
  }
  options.boundary = boundary::valid;
  CHECK(gpu::mean_filter(std::span(in), options).empty());
  // Places that repeat the row: not many times as many as it has.
  for (const boundary mode :
       {boundary::reflect, boundary::nearest, boundary::mirror, boundary::wrap}) {
    options.boundary = mode;
    options.window = 511;
    check_vector<double, double>(4, options, 20, 1);
    options.window = 512;
    CHECK_THROWS_WITH(
        gpu::mean_filter(std::span(in), options),
        "options.window: got 512 for rows of 4, expected at most 511 with boundary::" +
            std::string(gpu::to_string(mode)) + "; zero and shrink have no limit");
    options.window = 1999;
    check_vector<double, double>(1000, options, 20, 97);
    options.window = 2000;
    CHECK_THROWS_AS(gpu::mean_filter(std::vector<double>(1000), options), gpu::invalid_argument);
  }
}

TEST_CASE("NaN is omitted in long windows too", "[mean_filter]") {
  auto options = on_cpu(mean_filter_variant::block_sums);
  options.nans = nan_policy::omit;
  for (const index_t window : {6, 101, 20001}) {
    options.window = window;
    for (const boundary mode : {boundary::zero, boundary::wrap, boundary::shrink}) {
      options.boundary = mode;
      check_vector<double, double>(80001, options, 31, 1501, true);
      check_vector<float, float>(80001, options, 32, 1501, true);
    }
  }
}

TEST_CASE("Large results written past the caches are the same", "[mean_filter]") {
  auto options = on_cpu(mean_filter_variant::automatic);
  options.window = 9;
  options.boundary = boundary::mirror;
  check_vector<double, double>(2500003, options, 51, 9973);
  check_vector<float, float>(4500001, options, 52, 19997);
  check_vector<std::uint8_t, std::uint8_t>(17000001, options, 53, 99991);
}
