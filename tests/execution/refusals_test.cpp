// What every operation refuses of its options: values that no enumeration has, negative counts of
// threads, settings that a call has no use for; and what it makes of too many threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/refusals.hpp"

namespace {

/// A value beyond every enumerator.
template <class Enum>
constexpr Enum beyond = static_cast<Enum>(99);

gpu::matrix<double> some_rows(gpu::index_t rows, gpu::index_t cols) {
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      out.row(i)[static_cast<std::size_t>(k)] = static_cast<double>((i * 7 + k * k * (i + 3)) % 11);
    }
  }
  return out;
}

struct named_call {
  const char* name;
  bool shares_devices;
  std::function<void(const gpu::execution&)> call;
};

/// Every operation, on host memory.
std::vector<named_call> host_calls() {
  const auto data = std::make_shared<gpu::matrix<double>>(some_rows(20, 20));
  const auto bits = std::make_shared<gpu::bit_matrix>(gpu::pack_bits(data->view(), 3.0));
  const auto pairs = [&](const char* name, const auto& run) {
    return named_call{name, true, [=](const gpu::execution& exec) { run(data->view(), exec); }};
  };
  const auto alone = [&](const char* name, const auto& run) {
    return named_call{name, false, [=](const gpu::execution& exec) { run(data->view(), exec); }};
  };
  return {
      pairs("all_pairs",
            [](auto x, const auto& exec) {
              (void)gpu::spearman_all_pairs(x, {.exec = exec}, gpu::count_sink{});
            }),
      pairs("all_pairs with missing values",
            [](auto x, const auto& exec) {
              (void)gpu::pearson_all_pairs(x, {.nans = gpu::nan_policy::pairwise, .exec = exec},
                                           gpu::top_k_sink{.k = 2});
            }),
      pairs("all_pairs on the CPU alone",
            [](auto x, const auto& exec) {
              gpu::pair_options options{.exec = exec};
              options.p_method = gpu::p_method::exact;
              (void)gpu::spearman_all_pairs(x, options, gpu::count_sink{});
            }),
      pairs("prepare",
            [](auto x, const auto& exec) {
              (void)gpu::prepare_rows(gpu::measure::spearman, x, {.exec = exec});
            }),
      pairs("plan_all_pairs",
            [](auto x, const auto& exec) {
              (void)gpu::plan_all_pairs(gpu::measure::spearman, x, {.exec = exec},
                                        gpu::pair_filter{});
            }),
      alone("tanimoto",
            [=](auto, const auto& exec) {
              (void)gpu::tanimoto_all_pairs(bits->view(), {.exec = exec}, gpu::top_k_sink{.k = 2});
            }),
      alone("rank_rows", [](auto x, const auto& exec) { (void)gpu::rank_rows(x, {.exec = exec}); }),
      alone("top_k", [](auto x, const auto& exec) { (void)gpu::top_k(x, 3, {.exec = exec}); }),
      alone("top_k_distinct",
            [](auto x, const auto& exec) { (void)gpu::top_k_distinct(x, 3, {.exec = exec}); }),
      alone("matmul", [](auto x, const auto& exec) { (void)gpu::matmul(x, x, {.exec = exec}); }),
      alone("pack_bits", [](auto x, const auto& exec) { (void)gpu::pack_bits(x, 3.0, exec); }),
      alone("binary_matmul",
            [=](auto, const auto& exec) {
              (void)gpu::binary_matmul(bits->view(), bits->view(), {.exec = exec});
            }),
      alone("mean_filter",
            [](auto x, const auto& exec) {
              gpu::matrix<double> out(20, 20);
              gpu::mean_filter(x, out.view(), {.window = 3, .exec = exec});
            }),
      alone("convolve",
            [](auto x, const auto& exec) {
              const std::vector<double> weights{1, 2, 1};
              gpu::matrix<double> out(20, 20);
              gpu::convolve(x, weights, out.view(), {.exec = exec});
            }),
  };
}

}  // namespace

TEST_CASE("Too few threads and an unknown target are refused, too many threads are capped",
          "[execution]") {
  constexpr auto host = gpu::backend::cpu;
  for (const named_call& each : host_calls()) {
    CAPTURE(each.name);
    for (const int threads : {-1, -2147483647}) {
      CHECK_THROWS_AS(each.call({.target = host, .cpu_threads = threads}), gpu::invalid_argument);
    }
    CHECK_THROWS_AS(each.call({.target = beyond<gpu::backend>}), gpu::invalid_argument);
    CHECK_NOTHROW(each.call({.target = host, .cpu_threads = 1'000'000}));
  }
}

TEST_CASE("Calls on host memory refuse a stream", "[execution]") {
  // Refused before anything looks at it.
  static int place = 0;
  const gpu::execution exec{.stream = gpu::stream_ref(reinterpret_cast<CUstream_st*>(&place))};
  for (const named_call& each : host_calls()) {
    CAPTURE(each.name);
    CHECK_THROWS_AS(each.call(exec), gpu::invalid_argument);
    CHECK(gpu_test::refusal_of([&] {
            each.call(exec);
          }).starts_with("execution.stream: got a stream for data in host memory, expected none"));
    CHECK_NOTHROW(each.call({.target = gpu::backend::cpu}));
  }
}

TEST_CASE("Operations that run on one device refuse more", "[execution]") {
  const gpu::execution exec{.devices = {0, 1}};
  for (const named_call& each : host_calls()) {
    if (each.shares_devices) continue;
    CAPTURE(each.name);
    CHECK_THROWS_AS(each.call(exec), gpu::unsupported);
    CHECK(gpu_test::refusal_of([&] {
            each.call(exec);
          }).starts_with("execution.devices: got 2, expected at most one"));
  }
  CHECK_THROWS_AS(gpu::plan_rank_rows<double>(9, 9, {.exec = exec}), gpu::unsupported);
  CHECK_THROWS_AS(gpu::plan_top_k<double>(9, 9, 2, {.exec = exec}), gpu::unsupported);
  CHECK_THROWS_AS(gpu::plan_matmul<double>(9, 9, 9, {.exec = exec}), gpu::unsupported);
  CHECK_THROWS_AS(gpu::plan_binary_matmul(9, 9, 9, {.exec = exec}), gpu::unsupported);
}

TEST_CASE("Pair options that do not go together are refused before any row is read",
          "[execution]") {
  // Its rows must not be looked at: they are not finite.
  gpu::matrix<double> data(6, 12);
  std::fill(data.data(), data.data() + 72, std::numeric_limits<double>::quiet_NaN());
  const gpu::matrix<double> covariates = some_rows(1, 12);
  const std::vector<double> weights(12, 1.0);
  gpu::pair_options partial;
  partial.covariates = covariates.view();
  const auto says = [&](gpu::measure what, const gpu::pair_options& options, const auto& sink,
                        const std::string& message) {
    try {
      (void)gpu::all_pairs(what, data, options, sink);
      FAIL("nothing was thrown, expected " << message);
    } catch (const gpu::unsupported& refusal) {
      CHECK(refusal.what() == message);
    }
  };
  const gpu::count_sink counts;
  says(gpu::measure::kendall, {.fold = gpu::row_folding::always}, counts,
       "options.fold: always is not offered for Kendall, only for spearman");
  says(gpu::measure::bicor, {.p_method = gpu::p_method::exact}, counts,
       "options.p_method: exact is not offered for Bicor, only for spearman");
  says(gpu::measure::bicor, {.column_weights = weights}, counts,
       "options.column_weights: not offered for Bicor, only for pearson, cosine");
  says(gpu::measure::kendall, partial, counts,
       "options.covariates: not offered for Kendall, only for spearman, pearson");
  says(gpu::measure::kendall, {.effective_observations = 5}, counts,
       "options.effective_observations: not offered for Kendall, only for spearman, pearson, "
       "bicor");
  partial.nans = gpu::nan_policy::pairwise;
  says(gpu::measure::spearman, partial, counts,
       "options.nans: pairwise is not offered with options.covariates, expected reject or "
       "propagate");
  const gpu::pair_options shared{.nans = gpu::nan_policy::pairwise,
                                 .fold = gpu::row_folding::always};
  says(gpu::measure::spearman, shared, counts,
       "options.fold: always is not offered with options.nans pairwise, expected automatic or "
       "never");
  says(gpu::measure::spearman, {.fold = gpu::row_folding::always}, gpu::connectivity_sink{},
       "options.fold: always is not offered with connectivity_sink, expected automatic or never");
  const gpu::pair_filter step_up{.max_p = 0.1, .adjust = gpu::adjustment::benjamini_hochberg};
  says(gpu::measure::spearman, {.part = {.index = 0, .of = 2}}, gpu::edge_sink{.keep = step_up},
       "pair_filter.adjust: benjamini_hochberg is not offered with options.part, expected "
       "none or bonferroni");
  CHECK_THROWS_AS(gpu::plan_all_pairs(gpu::measure::spearman, data, {.part = {.index = 0, .of = 2}},
                                      gpu::edge_sink{step_up}),
                  gpu::unsupported);
  const gpu::pair_filter each{.max_p = 0.1, .adjust = gpu::adjustment::bonferroni};
  says(gpu::measure::pearson, {.nans = gpu::nan_policy::pairwise, .part = {.index = 0, .of = 2}},
       gpu::edge_sink{.keep = each},
       "pair_filter.adjust: not offered with options.part and nan_policy::pairwise, expected none");
}

TEST_CASE("Values outside an enumeration are refused", "[execution]") {
  const gpu::matrix<double> data = some_rows(6, 6);
  const gpu::matrix_view<const double> view = data.view();
  const auto pairs = [&](const gpu::pair_options& options, const auto& sink) {
    CHECK_THROWS_AS(gpu::spearman_all_pairs(view, options, sink), gpu::invalid_argument);
  };
  CHECK_THROWS_AS(gpu::resolve_backend({.target = beyond<gpu::backend>}), gpu::invalid_argument);
  pairs({.exec = {.target = beyond<gpu::backend>}}, gpu::count_sink{});
  pairs({.nans = beyond<gpu::nan_policy>}, gpu::count_sink{});
  pairs({.variant = beyond<gpu::pair_variant>}, gpu::count_sink{});
  pairs({.fold = beyond<gpu::row_folding>}, gpu::count_sink{});
  pairs({.nans = static_cast<gpu::nan_policy>(-1)}, gpu::count_sink{});
  pairs({}, gpu::count_sink{.keep = {.side = beyond<gpu::tail>}});
  pairs({}, gpu::count_sink{.keep = {.adjust = beyond<gpu::adjustment>}});
  pairs({}, gpu::edge_sink{.order = beyond<gpu::edge_order>});
  pairs({}, gpu::top_k_sink{.order = beyond<gpu::neighbor_order>});
  CHECK_THROWS_AS(
      gpu::plan_all_pairs(gpu::measure::spearman, view, {.fold = beyond<gpu::row_folding>}, {}),
      gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::rank_rows(view, {.ties = beyond<gpu::tie_method>}), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::rank_rows(view, {.order = beyond<gpu::rank_order>}), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::top_k(view, 2, {.select = beyond<gpu::top_k_select>}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::top_k(view, 2, {.order = beyond<gpu::top_k_order>}), gpu::invalid_argument);
  gpu::matrix<double> out(6, 6);
  CHECK_THROWS_AS(gpu::matmul(view, view, out.view(), {.a = beyond<gpu::transposition>}),
                  gpu::invalid_argument);
  const gpu::bit_matrix bits = gpu::pack_bits(view, 3.0);
  CHECK_THROWS_AS(
      gpu::binary_matmul(bits.view(), bits.view(), {.product = beyond<gpu::bit_product>}),
      gpu::invalid_argument);
}

TEST_CASE("The cut that decided is told with its sign", "[execution][summary]") {
  const gpu::matrix<double> data = some_rows(40, 12);
  const auto cut = [&](const gpu::pair_filter& keep) {
    const auto found = gpu::spearman_all_pairs(data.view(), {}, gpu::edge_sink{.keep = keep});
    const gpu::pair_summary& s = found.summary;
    for (const gpu::edge& e : found.edges) {
      CHECK((e.statistic >= s.cut_at_least || e.statistic <= s.cut_at_most));
      CHECK(std::abs(e.statistic) >= s.min_abs_effective);
    }
    return s;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const auto two = cut({.min_abs = 0.5});
  CHECK(two.cut_at_least == 0.5);
  CHECK(two.cut_at_most == -0.5);
  const auto greater = cut({.min_abs = 0.5, .side = gpu::tail::greater});
  CHECK(greater.cut_at_least == 0.5);
  CHECK(greater.cut_at_most == -infinity);
  CHECK(greater.min_abs_effective == 0.5);
  const auto less = cut({.min_abs = 0.5, .side = gpu::tail::less});
  CHECK(less.cut_at_least == infinity);
  CHECK(less.cut_at_most == -0.5);
  CHECK(less.min_abs_effective == 0.5);
  // Everything passes: no sign is dropped, and no cut of 1 is claimed.
  const auto all = cut({.side = gpu::tail::greater});
  CHECK(all.pairs_kept == all.pairs_tested);
  CHECK(all.min_abs_effective == 0);
  CHECK(all.cut_at_least <= -1);
}

TEST_CASE("The estimate is not misled by rows that alternate", "[execution][plan]") {
  // Every second row is one and the same, the others have nothing in common with anything: a
  // quarter of the pairs have a statistic of 1.
  constexpr gpu::index_t rows = 8192;
  constexpr gpu::index_t cols = 24;
  gpu::matrix<std::int32_t> data(rows, cols);
  std::uint64_t state = 1;
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      data.row(i)[static_cast<std::size_t>(k)] =
          static_cast<std::int32_t>(i % 2 == 1 ? k : static_cast<gpu::index_t>(state >> 40));
    }
  }
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, data.view(), {}, {.min_abs = 0.99});
  const double truth = 4096.0 * 4095 / 2;
  CHECK(plan.kept_estimate > 0.8 * truth);
  CHECK(plan.kept_estimate < 1.2 * truth);
  CHECK(plan.kept_upper > truth);
  CHECK(gpu::plan_all_pairs(gpu::measure::spearman, data.view(), {}, {.min_abs = 0.99})
            .kept_estimate == plan.kept_estimate);
}

TEST_CASE("A plan on the CPU says how pairs would be found, and why", "[execution][plan]") {
  gpu::matrix<float> data(3000, 40);
  std::uint64_t state = 7;
  for (gpu::index_t k = 0; k < 3000 * 40; ++k) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    data.data()[k] = static_cast<float>(state >> 40);
  }
  const gpu::pair_options on_cpu{.exec = {.target = gpu::backend::cpu}};
  const auto strict = gpu::plan_all_pairs(gpu::measure::pearson, data, on_cpu, {.min_abs = 0.9});
  CHECK(strict.choice.find("sampled; a pair by screen") != std::string::npos);
  CHECK(strict.choice.find("every pair") == std::string::npos);
  const auto loose = gpu::plan_all_pairs(gpu::measure::spearman, data, on_cpu, {.min_abs = 0.01});
  CHECK(loose.choice.starts_with("every pair is decided: the cut keeps 0.9"));
  CHECK(gpu::plan_all_pairs(gpu::measure::spearman, data, on_cpu)
            .choice.starts_with("every pair is decided"));
  const auto naive = gpu::plan_all_pairs(
      gpu::measure::spearman, data,
      {.variant = gpu::pair_variant::naive, .exec = {.target = gpu::backend::cpu}},
      {.min_abs = 0.9});
  CHECK(naive.choice == "every pair is decided: this variant has no screen");
}
