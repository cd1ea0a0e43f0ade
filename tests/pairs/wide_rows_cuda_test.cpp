// Tables of few long rows, whose pairs CUDA decides by products with split observations: every sink
// beside the CPU's bits, of every measure, on host and device, for lengths that no tile divides.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "pairs/cpu_parity.hpp"
#include "pairs/device_results.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu::measure;

template <measure what>
struct call_of {
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::all_pairs(what, data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto run(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::all_pairs(what, x, y, options, sink);
  }
};

// Rows that follow a few profiles, rows of equal values, and rows with a NaN.
template <class T>
gpu::matrix<T> long_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed, bool holes) {
  gpu::matrix<T> out = gpu_test::random_matrix<T>(rows, cols, seed);
  const auto profiles = gpu_test::random_matrix<double>(3, cols, seed + 1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double share = static_cast<double>(i % 7) / 7;
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double noise = static_cast<double>(out(i, k) % T{5});
      out(i, k) = static_cast<T>(share * 8 * profiles(i % 3, k) + noise);
    }
  }
  if (holes && rows > 4) {
    std::fill_n(out.data() + 3 * cols, cols, T{2});
  }
  return out;
}

template <std::floating_point T>
gpu::matrix<T> long_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed, bool holes) {
  auto out = gpu_test::random_matrix<T>(rows, cols, seed);
  const auto profiles = gpu_test::random_matrix<T>(3, cols, seed + 1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const T share = static_cast<T>(i % 7) / 7;
    for (gpu::index_t k = 0; k < cols; ++k) {
      out(i, k) = share * profiles(i % 3, k) + (1 - share) * out(i, k);
    }
  }
  if (holes && rows > 4) {
    std::fill_n(out.data() + 3 * cols, cols, T{1.5});
    out(rows - 2, cols / 2) = std::numeric_limits<T>::quiet_NaN();
  }
  return out;
}

// A cut that keeps some of the pairs, of every measure.
gpu::pair_filter some_pairs(gpu::index_t cols) {
  return {.min_abs = std::min(0.9, 2 / std::sqrt(static_cast<double>(cols)))};
}

// What a dense result in float may be off by: products of values have single precision there.
template <measure what>
constexpr double in_float = what == measure::spearman ? 0 : 1e-6;

template <measure what, class T>
void equals_the_cpu(gpu::index_t rows, gpu::index_t cols, gpu::pair_variant variant,
                    std::size_t workspace_bytes = 0, double dense_error = 0) {
  using call = call_of<what>;
  INFO(gpu::info_of(what).name << " of " << rows << " x " << cols);
  const auto x = long_rows<T>(rows, cols, static_cast<std::uint64_t>(rows + cols), true);
  auto here = gpu_test::cpu_options();
  auto there = gpu_test::cuda_options(variant, workspace_bytes);
  here.nans = there.nans = gpu::nan_policy::propagate;
  const auto same = [&](const auto& sink) {
    return std::pair(call::run(x.view(), there, sink), call::run(x.view(), here, sink));
  };
  {
    const auto [got, wanted] = same(gpu::dense_sink{});
    gpu_test::check_same_values(got, wanted, dense_error);
    CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
    CHECK(got.summary.nan_rows == wanted.summary.nan_rows);
  }
  {
    const auto [got, wanted] = same(gpu::dense_sink_f32{});
    gpu_test::check_same_values(got, wanted, std::max(dense_error, in_float<what>));
  }
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    gpu::pair_filter keep = some_pairs(cols);
    keep.side = side;
    const auto [got, wanted] = same(gpu::edge_sink{.keep = keep});
    CHECK(got.summary.checksum == wanted.summary.checksum);
    REQUIRE(got.edges.size() == wanted.edges.size());
    const auto [counted, expected] = same(gpu::count_sink{.keep = keep, .histogram_bins = 37});
    CHECK(counted.kept == expected.kept);
    CHECK(counted.degree == expected.degree);
    CHECK(counted.histogram == expected.histogram);
  }
  for (const auto order : {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
    const auto [got, wanted] = same(gpu::top_k_sink{.k = 5, .order = order});
    CHECK(gpu_test::same_values(got.index, wanted.index));
    CHECK(gpu_test::same_values(got.statistic, wanted.statistic));
    CHECK(got.count == wanted.count);
  }
}

// The dense result in float of a table, on the host and in device memory.
template <measure what, class T>
void float_of(const gpu::matrix<T>& x, std::size_t workspace_bytes) {
  INFO(gpu::info_of(what).name << " of " << x.rows() << " x " << x.cols());
  auto here = gpu_test::cpu_options();
  auto there = gpu_test::cuda_options(gpu::pair_variant::automatic, workspace_bytes);
  here.nans = there.nans = gpu::nan_policy::propagate;
  const auto wanted = gpu::all_pairs(what, x.view(), here, gpu::dense_sink_f32{});
  gpu_test::check_same_values(gpu::all_pairs(what, x.view(), there, gpu::dense_sink_f32{}), wanted,
                              in_float<what>);
  if (workspace_bytes != 0) return;
  const gpu_test::device_table<T> table(x, 3);
  const gpu_test::device_call<call_of<what>, gpu_test::device_table<T>> call{.x = table,
                                                                             .options = there};
  gpu_test::check_same_values<float>(call.template dense<float>(x.rows(), 5), wanted,
                                     in_float<what>);
}
template <measure what, class T>
void float_equals_the_cpu(gpu::index_t rows, gpu::index_t cols, std::size_t workspace_bytes = 0) {
  float_of<what>(long_rows<T>(rows, cols, static_cast<std::uint64_t>(rows * cols), true),
                 workspace_bytes);
}

template <measure what, class X, class Y>
void against_equals_the_cpu(gpu::index_t of_x, gpu::index_t of_y, gpu::index_t cols) {
  using call = call_of<what>;
  INFO(gpu::info_of(what).name << " of " << of_x << " against " << of_y << " of " << cols);
  const auto x = long_rows<X>(of_x, cols, 5, false);
  const auto y = long_rows<Y>(of_y, cols, 6, false);
  const auto there = gpu_test::cuda_options(gpu::pair_variant::automatic);
  const auto same = [&](const auto& sink) {
    return std::pair(call::run(x.view(), y.view(), there, sink),
                     call::run(x.view(), y.view(), gpu_test::cpu_options(), sink));
  };
  const auto [dense, wanted_dense] = same(gpu::dense_sink{});
  gpu_test::check_same_values(dense, wanted_dense);
  const auto [edges, wanted_edges] = same(gpu::edge_sink{.keep = some_pairs(cols)});
  CHECK(edges.summary.checksum == wanted_edges.summary.checksum);
  const auto [counted, wanted] = same(gpu::count_sink{.keep = some_pairs(cols)});
  CHECK(counted.degree == wanted.degree);
  CHECK(counted.y_degree == wanted.y_degree);
}

template <measure what>
void on_device(gpu::index_t rows, gpu::index_t cols) {
  INFO(gpu::info_of(what).name << " on the device, " << rows << " x " << cols);
  const auto data = long_rows<float>(rows, cols, 9, true);
  const gpu_test::device_table<float> table(data, 3);
  auto options = gpu_test::cuda_options(gpu::pair_variant::automatic);
  options.nans = gpu::nan_policy::propagate;
  gpu_test::check_device_results(
      gpu_test::device_call<call_of<what>, gpu_test::device_table<float>>{.x = table,
                                                                          .options = options},
      some_pairs(cols), 6, 2, in_float<what>);
}

// A dense result of unit rows by tiles has single precision.
constexpr double by_tiles = 2e-6;

template <class T>
void of_every_measure(gpu::index_t rows, gpu::index_t cols) {
  constexpr auto best = gpu::pair_variant::automatic;
  const double error = cols < 256 ? by_tiles : 0;
  equals_the_cpu<measure::spearman, T>(rows, cols, best);
  equals_the_cpu<measure::pearson, T>(rows, cols, best, 0, error);
  equals_the_cpu<measure::cosine, T>(rows, cols, best, 0, error);
  equals_the_cpu<measure::bicor, T>(rows, cols, best, 0, error);
  // Limbs of ranks by tiles, where there are no warpgroup products.
  equals_the_cpu<measure::spearman, T>(rows, cols, gpu_test::tensor_or_tiles());
}

}  // namespace

TEST_CASE("Wide tables of any length have the CPU's bits", "[wide]") {
  for (const gpu::index_t cols : {255, 256, 257, 300, 511, 1023, 1201, 2049, 4099}) {
    of_every_measure<float>(70, cols);
    of_every_measure<std::int32_t>(37, cols);
  }
}

TEST_CASE("Wide tables of any number of rows have the CPU's bits", "[wide]") {
  for (const gpu::index_t rows : {2, 3, 31, 33, 63, 64, 65, 127, 128, 129, 257, 400}) {
    of_every_measure<float>(rows, 523);
  }
  of_every_measure<float>(650, 1201);
}

TEST_CASE("Very long rows have the CPU's bits", "[wide]") {
  for (const gpu::index_t cols : {16'383, 16'385, 32'767, 32'769, 65'537, 100'003}) {
    of_every_measure<float>(9, cols);
    of_every_measure<std::int32_t>(6, cols);
  }
  // Sums of products in several parts, since one would not fit 32 bits.
  for (const gpu::index_t cols : {131'072, 131'073, 262'145, 1'000'001}) {
    equals_the_cpu<measure::spearman, float>(5, cols, gpu::pair_variant::automatic);
  }
  equals_the_cpu<measure::pearson, float>(5, 1'048'577, gpu::pair_variant::automatic);
}

TEST_CASE("The longest rows of ranks, whose sums take 63 bits", "[wide]") {
  // The longest of products, whose largest limbs stand together, and the longest of all.
  const gpu::index_t cols = GENERATE(2'088'896, 3'000'000);
  gpu::matrix<double> x(4, cols);
  for (gpu::index_t k = 0; k < cols; ++k) {
    x(0, k) = static_cast<double>(k);
    x(1, k) = 2 * x(0, k);
    x(2, k) = -x(0, k);
    x(3, k) = static_cast<double>(k * 104'729 % cols / 3);
  }
  const auto wanted =
      gpu::all_pairs(measure::spearman, x.view(), gpu_test::cpu_options(), gpu::dense_sink{});
  for (const auto variant : {gpu::pair_variant::automatic, gpu::pair_variant::shared_tiled,
                             gpu_test::tensor_or_tiles()}) {
    const auto got = gpu::all_pairs(measure::spearman, x.view(), gpu_test::cuda_options(variant),
                                    gpu::dense_sink{});
    gpu_test::check_same_values(got, wanted);
    CHECK(got(0, 1) == 1.0);
    CHECK(got(1, 2) == -1.0);
    const auto best = gpu::all_pairs(measure::spearman, x.view(), gpu_test::cuda_options(variant),
                                     gpu::top_k_sink{.k = 1});
    CHECK(best.index(0, 0) == 1);
    CHECK(best.statistic(0, 0) == 1.0);
  }
}

TEST_CASE("Wide tables in little memory have the CPU's bits", "[wide]") {
  // Products in pieces, of one block of rows by one of columns too; then none.
  for (const std::size_t megabytes : {48U, 24U, 12U, 6U}) {
    equals_the_cpu<measure::spearman, float>(600, 400, gpu::pair_variant::automatic,
                                             megabytes << 20);
    equals_the_cpu<measure::pearson, float>(600, 400, gpu::pair_variant::automatic, megabytes << 20,
                                            by_tiles);
  }
}

TEST_CASE("Strict cuts of wide tables in little memory have the CPU's bits", "[wide]") {
  // Memory for products, which need no screen, and then not: no screen reads rows that were never
  // rounded.
  const gpu::edge_sink sink{.keep = {.max_p = 1e-6}};
  int ran = 0;
  for (const gpu::index_t cols : {130, 300}) {
    for (const gpu::index_t rows : {150, 400, 900, 1400}) {
      const auto x = long_rows<std::int32_t>(rows, cols, 7, true);
      const auto wanted = gpu::spearman_all_pairs(x, gpu_test::cpu_options(), sink);
      const auto of_unit = gpu::pearson_all_pairs(x, gpu_test::cpu_options(), sink);
      for (std::size_t kilobytes = 768; kilobytes <= 8192; kilobytes += 928) {
        INFO(rows << " x " << cols << ", " << kilobytes << " KiB");
        const gpu::pair_options options =
            gpu_test::cuda_options(gpu::pair_variant::automatic, kilobytes << 10);
        try {
          gpu_test::check_same_edges(gpu::spearman_all_pairs(x, options, sink).edges, wanted.edges);
          gpu_test::check_same_edges(gpu::pearson_all_pairs(x, options, sink).edges, of_unit.edges);
          ++ran;
        } catch (const gpu::out_of_memory&) {
          continue;  // the rows do not fit
        }
      }
    }
  }
  CHECK(ran > 20);
}

TEST_CASE("Dense results in float of wide tables have single precision", "[wide]") {
  // Tiles that begin at every place of a group of rows, in one piece and in several, with columns
  // split and not.
  for (const gpu::index_t rows : {192, 255, 256, 257, 264, 300, 511, 777}) {
    for (const gpu::index_t cols : {96, 127, 500, 1201}) {
      float_equals_the_cpu<measure::pearson, float>(rows, cols);
      float_equals_the_cpu<measure::cosine, double>(rows, cols);
      float_equals_the_cpu<measure::bicor, float>(rows, cols);
    }
  }
  float_equals_the_cpu<measure::pearson, std::uint8_t>(450, 20'011);
  float_equals_the_cpu<measure::pearson, std::int32_t>(210, 100'003);
  float_equals_the_cpu<measure::pearson, double>(2100, 300);
  for (const std::size_t megabytes : {64U, 32U, 16U}) {
    float_equals_the_cpu<measure::pearson, float>(1500, 400, megabytes << 20);
  }
}

TEST_CASE("Values of any size have a dense result in float", "[wide]") {
  // Far from zero, near the ends of the range, alike but for the last bits.
  auto x = long_rows<double>(200, 260, 3, false);
  for (gpu::index_t i = 0; i < 200; ++i) {
    for (gpu::index_t k = 0; k < 260; ++k) {
      double& value = x(i, k);
      if (i % 5 == 1) value = value * 1e-300;
      if (i % 5 == 2) value = value * 1e300;
      if (i % 5 == 3) value = 1e9 + value;
      if (i % 5 == 4) value = k == i ? 1e30 : value;
    }
  }
  float_of<measure::pearson>(x, 0);
  float_of<measure::cosine>(x, 0);
  float_of<measure::bicor>(x, 0);
}

TEST_CASE("Dense results in float of parts, and of x against y", "[wide]") {
  const auto x = long_rows<float>(611, 333, 4, true);
  const auto y = long_rows<std::int32_t>(395, 333, 5, false);
  auto here = gpu_test::cpu_options();
  auto there = gpu_test::cuda_options(gpu::pair_variant::automatic);
  here.nans = there.nans = gpu::nan_policy::propagate;
  gpu_test::check_same_values(
      gpu::pearson_all_pairs(x.view(), y.view(), there, gpu::dense_sink_f32{}),
      gpu::pearson_all_pairs(x.view(), y.view(), here, gpu::dense_sink_f32{}),
      in_float<measure::pearson>);
  for (gpu::index_t part = 0; part < 2; ++part) {
    here.part = there.part = {.index = part, .of = 2};
    gpu_test::check_same_values(gpu::pearson_all_pairs(x.view(), there, gpu::dense_sink_f32{}),
                                gpu::pearson_all_pairs(x.view(), here, gpu::dense_sink_f32{}),
                                in_float<measure::pearson>);
  }
}

TEST_CASE("Wide x against wide y has the CPU's bits", "[wide]") {
  for (const gpu::index_t of_x : {1, 40, 130}) {
    for (const gpu::index_t of_y : {1, 65, 300}) {
      against_equals_the_cpu<measure::spearman, float, std::int32_t>(of_x, of_y, 777);
      against_equals_the_cpu<measure::pearson, std::int32_t, float>(of_x, of_y, 777);
      against_equals_the_cpu<measure::cosine, float, float>(of_x, of_y, 1030);
      against_equals_the_cpu<measure::bicor, float, std::int32_t>(of_x, of_y, 777);
    }
  }
}

TEST_CASE("Parts of wide tables have the CPU's bits", "[wide]") {
  const auto x = long_rows<float>(301, 700, 4, true);
  const auto check = [&]<measure what>() {
    for (gpu::index_t part = 0; part < 3; ++part) {
      INFO(gpu::info_of(what).name << ", part " << part);
      auto here = gpu_test::cpu_options();
      auto there = gpu_test::cuda_options(gpu::pair_variant::automatic);
      here.nans = there.nans = gpu::nan_policy::propagate;
      here.part = there.part = {.index = part, .of = 3};
      const auto same = [&](const auto& sink) {
        return std::pair(gpu::all_pairs(what, x.view(), there, sink),
                         gpu::all_pairs(what, x.view(), here, sink));
      };
      const auto [dense, wanted_dense] = same(gpu::dense_sink{});
      gpu_test::check_same_values(dense, wanted_dense);
      const auto [edges, wanted_edges] = same(gpu::edge_sink{.keep = some_pairs(700)});
      CHECK(edges.summary.checksum == wanted_edges.summary.checksum);
      const auto [counted, wanted] = same(gpu::count_sink{.keep = some_pairs(700)});
      CHECK(counted.degree == wanted.degree);
      const auto [best, wanted_best] = same(gpu::top_k_sink{.k = 4});
      CHECK(gpu_test::same_values(best.index, wanted_best.index));
    }
  };
  check.operator()<measure::spearman>();
  check.operator()<measure::pearson>();
  check.operator()<measure::bicor>();
}

TEST_CASE("Wide tables in device memory have the same results there", "[wide]") {
  for (const gpu::index_t rows : {5, 64, 200, 421}) {
    for (const gpu::index_t cols : {301, 1200, 5003}) {
      on_device<measure::spearman>(rows, cols);
      on_device<measure::pearson>(rows, cols);
      on_device<measure::bicor>(rows, cols);
    }
  }
}
