// Plans beside the calls that they are of: for every sink what it keeps and how much memory its
// result takes.
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"

namespace {

const gpu::pair_options on_cpu{.exec = {.target = gpu::backend::cpu}};

// Groups of rows that move together, some constant, some with a NaN.
gpu::matrix<double> grouped_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t state = 3) {
  gpu::matrix<double> out(rows, cols);
  const auto random = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
  };
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double common = std::sin(static_cast<double>((i % 7 + 1) * (k + 1)));
      out(i, k) = i % 31 == 30 ? 1.0 : random() + (i % 3 == 0 ? common : 0.0);
    }
  }
  return out;
}

double bytes_of(double entries, std::size_t each) {
  return entries * static_cast<double>(each);
}

double kept_of(const gpu::pair_summary& summary) {
  return static_cast<double>(summary.pairs_kept);
}

constexpr double nearly = 1e-9;  // of sums of shares

}  // namespace

TEST_CASE("A plan of a table that is sampled whole is what the call gives", "[execution][plan]") {
  gpu::matrix<double> data = grouped_rows(150, 24);
  data(17, 3) = std::numeric_limits<double>::quiet_NaN();
  gpu::pair_options options = on_cpu;
  options.nans = gpu::nan_policy::propagate;
  const gpu::pair_filter keep{.max_p = 0.02};

  const auto edges = gpu::spearman_all_pairs(data, options, gpu::edge_sink{.keep = keep});
  const auto of_edges =
      gpu::plan_all_pairs(gpu::measure::spearman, data, options, gpu::edge_sink{.keep = keep});
  REQUIRE(kept_of(edges.summary) > 100);
  CHECK(of_edges.kept_estimate == Approx(kept_of(edges.summary)).epsilon(nearly));
  CHECK(of_edges.result_bytes == Approx(bytes_of(kept_of(edges.summary), sizeof(gpu::edge))));
  CHECK(of_edges.kept_estimate ==
        gpu::plan_all_pairs(gpu::measure::spearman, data, options, keep).kept_estimate);

  const auto consume = [](std::span<const gpu::edge>) {};
  const auto streamed =
      gpu::plan_all_pairs(gpu::measure::spearman, data, options,
                          gpu::stream_sink{.keep = keep, .consume = consume, .batch_edges = 10});
  CHECK(streamed.kept_estimate == of_edges.kept_estimate);
  CHECK(streamed.result_bytes == bytes_of(10, sizeof(gpu::edge)));

  const gpu::count_sink counting{.keep = keep, .histogram_bins = 20};
  const auto counts = gpu::plan_all_pairs(gpu::measure::spearman, data, options, counting);
  CHECK(counts.kept_estimate == of_edges.kept_estimate);
  CHECK(counts.result_bytes == 150 * 4 + 20 * 8);

  const auto dense =
      gpu::plan_all_pairs(gpu::measure::spearman, data, options, gpu::dense_sink_f32{});
  const auto full = gpu::spearman_all_pairs(data, options, gpu::dense_sink_f32{});
  CHECK(dense.kept_estimate == Approx(kept_of(full.summary)).epsilon(nearly));
  CHECK(dense.result_bytes == 150 * 150 * 4);
  CHECK(
      gpu::plan_all_pairs(gpu::measure::spearman, data, options, gpu::dense_sink{}).result_bytes ==
      150 * 150 * 8);
}

TEST_CASE("A plan of partners counts the entries of their table", "[execution][plan]") {
  const gpu::matrix<double> data = grouped_rows(140, 24);
  for (const gpu::index_t k : {gpu::index_t{1}, gpu::index_t{5}, gpu::index_t{500}}) {
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      for (const double max_p : {1.0, 0.01}) {
        const gpu::top_k_sink sink{.k = k, .keep = {.max_p = max_p, .side = side}};
        INFO("k " << k << ", side " << static_cast<int>(side) << ", max_p " << max_p);
        const auto table = gpu::pearson_all_pairs(data, on_cpu, sink);
        const auto plan = gpu::plan_all_pairs(gpu::measure::pearson, data, on_cpu, sink);
        CHECK(plan.kept_estimate == Approx(kept_of(table.summary)).epsilon(nearly));
        CHECK(plan.kept_upper == plan.kept_estimate);
        CHECK(plan.result_bytes == 140 * (static_cast<double>(k) * 12 + 4));
      }
    }
  }
}

TEST_CASE("A plan of x against y takes every sink", "[execution][plan]") {
  const gpu::matrix<double> x = grouped_rows(60, 20, 5);
  const gpu::matrix<double> y = grouped_rows(90, 20, 6);
  const gpu::top_k_sink sink{.k = 4, .keep = {.min_abs = 0.4}};
  const auto table = gpu::cosine_all_pairs(x, y, on_cpu, sink);
  const auto partners = gpu::plan_all_pairs(gpu::measure::cosine, x, y, on_cpu, sink);
  CHECK(partners.kept_estimate == Approx(kept_of(table.summary)).epsilon(nearly));
  CHECK(partners.result_bytes == 60 * (4 * 12 + 4));
  const auto dense = gpu::plan_all_pairs(gpu::measure::pearson, x, y, on_cpu, gpu::dense_sink{});
  CHECK(dense.result_bytes == 60 * 90 * 8);
  CHECK(dense.pairs == 60 * 90);
  const auto counts = gpu::plan_all_pairs(gpu::measure::spearman, x, y, on_cpu, gpu::count_sink{});
  CHECK(counts.result_bytes == (60 + 90) * 4);

  gpu::pair_options third = on_cpu;
  third.part = {.index = 1, .of = 3};
  const auto part = gpu::plan_all_pairs(gpu::measure::pearson, x, y, third, gpu::dense_sink{});
  CHECK(part.result_bytes == 20 * 90 * 8);
}

TEST_CASE("Partners of more rows than a sample has are estimated", "[execution][plan]") {
  const gpu::matrix<double> data = grouped_rows(6000, 20);
  const gpu::top_k_sink sink{.k = 40, .keep = {.max_p = 0.01}};
  const auto table = gpu::spearman_all_pairs(data, on_cpu, sink);
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, data, on_cpu, sink);
  CHECK(plan.sampled_pairs < plan.pairs);
  CHECK(plan.kept_estimate == Approx(kept_of(table.summary)).epsilon(0.1));
  CHECK(plan.kept_upper >= kept_of(table.summary));
}

TEST_CASE("A plan refuses the sinks that the call refuses", "[execution][plan]") {
  const gpu::matrix<double> data = grouped_rows(20, 20);
  const auto plan = [&](gpu::measure what, const auto& sink) {
    return gpu::plan_all_pairs(what, data, on_cpu, sink);
  };
  const gpu::measure spearman = gpu::measure::spearman;
  CHECK_THROWS_AS(plan(spearman, gpu::top_k_sink{.k = 0}), gpu::invalid_argument);
  CHECK_THROWS_AS(plan(spearman, gpu::count_sink{.histogram_bins = -1}), gpu::invalid_argument);
  CHECK_THROWS_AS(plan(spearman, gpu::stream_sink{}), gpu::invalid_argument);
  CHECK_THROWS_AS(plan(spearman, gpu::edge_sink{.keep = {.max_p = 0}}), gpu::invalid_argument);
  CHECK_THROWS_AS(plan(gpu::measure::cosine, gpu::edge_sink{.keep = {.max_p = 0.1}}),
                  gpu::unsupported);
  // More edges than the call may hold are no error of its plan, which says how many there are.
  CHECK(plan(spearman, gpu::edge_sink{.max_edges = 1}).kept_estimate > 1);
}
