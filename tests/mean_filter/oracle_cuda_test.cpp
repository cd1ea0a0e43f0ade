// Every variant of the CUDA backend, through host views, against the oracle.
#include <limits>

#include <gpu/error.hpp>

#include "mean_filter/convolve_checks.hpp"

namespace {

using namespace gpu_test;

template <class I, class O>
struct types {
  using in = I;
  using out = O;
};

}  // namespace

TEMPLATE_TEST_CASE("Every variant equals direct sums, whatever the window, origin and boundary",
                   "[mean_filter][cuda]", (types<double, double>), (types<float, float>),
                   (types<std::int32_t, std::int32_t>), (types<std::int32_t, double>),
                   (types<std::uint8_t, std::uint8_t>), (types<std::uint8_t, double>),
                   (types<std::uint16_t, std::uint16_t>), (types<std::uint16_t, double>)) {
  using in = typename TestType::in;
  using out = typename TestType::out;
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums}) {
    for (const index_t size : {1, 3, 40, 1300}) {
      for (const index_t window : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 23, 101, 256}) {
        if (size == 1300 && window != 5 && window != 23 && window != 256) continue;
        check_all_boundaries<in, out>(size, window, on_cuda(variant), 71);
      }
    }
    auto options = on_cuda(variant);
    options.window = 7;
    check_rows<in, out>(5, 37, options, 72);
    check_rows<in, out>(3, 5001, options, 73);
  }
}

TEMPLATE_TEST_CASE("Every variant takes each pair of types", "[mean_filter][cuda]",
                   (types<std::int8_t, std::int8_t>), (types<std::int8_t, double>),
                   (types<std::int16_t, std::int16_t>), (types<std::int16_t, double>),
                   (types<float, double>)) {
  using in = typename TestType::in;
  using out = typename TestType::out;
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums}) {
    for (const index_t window : {2, 5, 16, 101}) {
      check_all_boundaries<in, out>(700, window, on_cuda(variant), 74);
    }
  }
  auto options = on_cuda(mean_filter_variant::multi_level);
  options.window = 5001;
  check_vector<in, out>(30'001, options, 75, 1009);
  options = on_cuda(mean_filter_variant::block_sums);
  options.window = 1001;
  check_vector<in, out>(30'001, options, 76, 503);
}

TEMPLATE_TEST_CASE("Windows at the edges of chunks, warps and tiles", "[mean_filter][cuda]", double,
                   float, std::int32_t, std::uint8_t) {
  auto options = on_cuda(mean_filter_variant::block_sums);
  for (const index_t window :
       {21,  22,  33,  34,  50,   51,   340,  351,  352,  363,  364,  365, 500,
        543, 544, 561, 562, 1001, 1002, 2304, 2305, 3328, 3329, 4097, 4500}) {
    options.window = window;
    for (const boundary mode : {boundary::zero, boundary::mirror, boundary::shrink}) {
      options.boundary = mode;
      check_vector<TestType, TestType>(30011, options, 81, 67);
    }
  }
}

TEMPLATE_TEST_CASE("Wide windows of long rows", "[mean_filter][cuda]", double, float) {
  auto options = on_cuda(mean_filter_variant::automatic);
  for (const index_t window : {512, 1151, 1152, 4097}) {
    options.window = window;
    options.boundary = boundary::reflect;
    check_vector<TestType, TestType>(6'000'013, options, 85, 10'007);
  }
  options.nans = nan_policy::omit;
  options.boundary = boundary::shrink;
  check_vector<TestType, TestType>(3'000'017, options, 86, 10'007, true);
  options.window = 700;
  check_rows<TestType, TestType>(7, 11'000, options, 87);
}

TEMPLATE_TEST_CASE("Many rows in one tile", "[mean_filter][cuda]", double, float, std::uint8_t) {
  auto options = on_cuda(mean_filter_variant::block_sums);
  for (const index_t cols : {1, 3, 10, 100, 700, 1200}) {
    for (const index_t window : {1, 2, 5, 9, 16, 31, 101, 400}) {
      options.window = window;
      for (const boundary mode : {boundary::zero, boundary::reflect, boundary::nearest,
                                  boundary::mirror, boundary::wrap, boundary::shrink}) {
        options.boundary = mode;
        check_rows<TestType, TestType>(41, cols, options, 88);
      }
      options.boundary = boundary::valid;
      if (window <= cols) check_rows<TestType, TestType>(41, cols, options, 89);
      if constexpr (std::is_floating_point_v<TestType>) {
        options.boundary = boundary::shrink;
        options.nans = nan_policy::omit;
        check_rows<TestType, TestType>(41, cols, options, 90);
        options.nans = nan_policy::propagate;
      }
    }
  }
}

TEMPLATE_TEST_CASE("Windows of several levels", "[mean_filter][cuda]", double, float, std::int32_t,
                   std::uint8_t) {
  auto options = on_cuda(mean_filter_variant::multi_level);
  for (const index_t window : {1152, 1153, 2303, 2304, 2305, 4607, 6912, 20001, 70000, 170001}) {
    options.window = window;
    for (const boundary mode : {boundary::zero, boundary::reflect, boundary::shrink}) {
      options.boundary = mode;
      check_vector<TestType, TestType>(90001, options, 91, 5003);
      if constexpr (std::is_floating_point_v<TestType>) {
        options.nans = nan_policy::omit;
        check_vector<TestType, TestType>(90001, options, 92, 9001, true);
        options.nans = nan_policy::propagate;
      }
    }
  }
  options.window = 4999;
  options.boundary = boundary::valid;
  check_rows<TestType, TestType>(3, 5100, options, 93);
}

TEST_CASE("A window of super sums", "[mean_filter][cuda]") {
  auto options = on_cuda(mean_filter_variant::multi_level);
  options.window = 2000001;
  check_vector<float, float>(2500000, options, 94, 499979);
}

TEST_CASE("NaN is omitted by block sums of any length", "[mean_filter][cuda]") {
  auto options = on_cuda(mean_filter_variant::block_sums);
  options.nans = nan_policy::omit;
  for (const index_t window : {6, 101, 1001}) {
    options.window = window;
    for (const boundary mode : {boundary::zero, boundary::wrap, boundary::shrink}) {
      options.boundary = mode;
      check_vector<double, double>(20001, options, 95, 101, true);
      check_vector<float, float>(20001, options, 96, 101, true);
    }
  }
}

TEST_CASE("Spoilt elements stay inside their windows, by every variant", "[mean_filter][cuda]") {
  const auto check = [](index_t window, mean_filter_variant variant, index_t size) {
    auto options = on_cuda(variant);
    options.window = window;
    check_locality<double>(size, options, std::numeric_limits<double>::infinity());
    check_locality<double>(size, options, std::numeric_limits<double>::quiet_NaN());
    check_locality<double>(size, options, 1e17);
    check_locality<double>(size, options, std::numeric_limits<double>::max());
    check_locality<float>(size, options, -std::numeric_limits<float>::infinity());
  };
  for (const index_t window : {1, 2, 5, 8, 16}) {
    check(window, mean_filter_variant::direct, 2000);
    check(window, mean_filter_variant::constant_memory, 2000);
    check(window, mean_filter_variant::shared_memory, 3000);
    check(window, mean_filter_variant::block_sums, 6000);
  }
  for (const index_t window : {33, 101, 1001}) check(window, mean_filter_variant::block_sums, 6000);
  check(5001, mean_filter_variant::multi_level, 12000);
}

TEST_CASE("The origin job: CPU and CUDA agree to the last bit but one", "[mean_filter][cuda]") {
  const auto in = test_row<double>(1000003, 97);
  for (const index_t window : {5, 101, 1001, 20001}) {
    mean_filter_options options{
        .window = window, .boundary = boundary::zero, .exec = {.target = gpu::backend::cpu}};
    const auto expected = gpu::mean_filter(std::span(in), options);
    options.exec.target = gpu::backend::cuda;
    const auto got = gpu::mean_filter(std::span(in), options);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      worst = std::max(worst, std::fabs(got[i] - expected[i]) / ulp(expected[i]));
    }
    INFO("window " << window);
    CHECK(worst <= 1.0);
  }
}

TEMPLATE_TEST_CASE("A convolution equals direct sums of products, by every variant",
                   "[convolve][cuda]", double, float, std::int32_t, std::uint8_t, std::uint16_t,
                   std::int8_t, std::int16_t) {
  for (const auto variant : {mean_filter_variant::automatic, mean_filter_variant::direct,
                             mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums}) {
    for (const index_t size : {1, 5, 700, 5000}) {
      for (const index_t weights : {1, 2, 5, 9, 16, 256}) {
        if (variant == mean_filter_variant::block_sums && weights > 9) continue;
        if (size == 5000 && weights > 9) continue;
        const gpu::convolve_options options{.variant = variant,
                                            .exec = {.target = gpu::backend::cuda}};
        check_convolutions<TestType, TestType>(size, weights, options, 101);
        if constexpr (!std::is_same_v<TestType, double>) {
          check_convolutions<TestType, double>(size, weights, options, 102);
        }
      }
    }
  }
}

TEST_CASE("CUDA variants refuse windows they do not take", "[mean_filter][cuda]") {
  const std::vector<double> in(10000);
  const auto run = [&](mean_filter_variant variant, index_t window) {
    auto options = on_cuda(variant);
    options.window = window;
    return gpu::mean_filter(std::span(in), options);
  };
  CHECK_THROWS_AS(run(mean_filter_variant::constant_memory, 257), gpu::unsupported);
  CHECK_THROWS_AS(run(mean_filter_variant::shared_memory, 4097), gpu::unsupported);
  CHECK_THROWS_AS(run(mean_filter_variant::block_sums, 9000), gpu::unsupported);
  CHECK_THROWS_AS(run(mean_filter_variant::multi_level, 1151), gpu::unsupported);
}
