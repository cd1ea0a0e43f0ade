#include <gpu/p_value.hpp>

#include "kendall/kendall_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

constexpr std::array sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};

// tau and the p of every side, as scipy.stats.kendalltau 1.17.1 prints them.
struct literal {
  double tau;
  std::array<double, 3> p;
};

void check_literal(std::span<const double> x, std::span<const double> y, const literal& wanted) {
  const auto cols = static_cast<gpu::index_t>(x.size());
  std::vector<double> both(x.begin(), x.end());
  both.insert(both.end(), y.begin(), y.end());
  const gpu::matrix_view<const double> data(both.data(), 2, cols);
  for (std::size_t s = 0; s < sides.size(); ++s) {
    INFO(cols << " columns, tail " << s);
    const auto got = gpu::kendall_all_pairs(data, gpu::edge_sink{.keep = {.side = sides[s]}});
    REQUIRE(got.edges.size() == 1);
    CHECK(std::abs(got.edges[0].statistic - wanted.tau) <= 1e-15);
    CHECK(std::abs(got.edges[0].p - wanted.p[s]) <= 1e-12 * wanted.p[s]);
  }
}

std::vector<double> congruential(std::size_t count, std::uint64_t state) {
  std::vector<double> out;
  for (std::size_t k = 0; k < count; ++k) {
    state = (state * 1103515245 + 12345) % (std::uint64_t{1} << 31);
    out.push_back(static_cast<double>(state >> 8));
  }
  return out;
}

}  // namespace

TEST_CASE("Kendall, CPU tiled", "[kendall]") {
  gpu_test::run_kendall_cases(tiled);
}

TEST_CASE("Kendall, CPU naive", "[kendall][naive]") {
  gpu_test::run_kendall_cases(naive);
}

TEST_CASE("Kendall's tau and p are SciPy's", "[kendall]") {
  const auto check = [](std::vector<double> x, std::vector<double> y, const literal& wanted) {
    check_literal(x, y, wanted);
  };
  check({1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4, 3, 7, 5, 8, 6},
        {0.6428571428571428, {0.03115079365079365, 0.015575396825396826, 0.9929315476190476}});
  check({12, 2, 1, 12, 2}, {1, 4, 7, 1, 0},
        {-0.4714045207910316, {0.28274545993277467, 0.8586272700336126, 0.14137272996638733}});
  check({1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3},
        {0.3171675237082733, {0.23008418191625113, 0.11504209095812556, 0.8849579090418744}});
  check({1, 2, 3}, {1, 3, 2}, {0.33333333333333337, {1.0, 0.5, 0.8333333333333333}});
  check({1, 2, 3}, {1, 2, 3}, {1.0, {0.3333333333333333, 0.16666666666666666, 1.0}});
  check({0, 0, 1}, {1, 0, 1},
        {0.49999999999999994, {0.4795001221869535, 0.23975006109347674, 0.7602499389065233}});
  check({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 9, 11, 10},
        {0.909090909090909, {1.4655483405483405e-06, 7.327741702741703e-07, 0.9999998392489713}});
  check({0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2}, {5, 4, 4, 3, 3, 3, 2, 2, 6, 1, 1, 0},
        {-0.6967503088681062, {0.005652840722378979, 0.9971735796388105, 0.0028264203611894894}});
}

TEST_CASE("Kendall's tau and p of longer rows are SciPy's", "[kendall]") {
  struct row {
    std::size_t cols;
    std::uint64_t modulus;  // 0: no ties, or few
    literal wanted;
  };
  const std::vector<row> rows{
      {33,
       0,
       {0.6553030303030303, {5.065874651477634e-09, 2.532937325738817e-09, 0.9999999980392721}}},
      {34,
       0,
       {0.6577540106951872, {4.4947833728945433e-08, 2.2473916864472717e-08, 0.9999999775260832}}},
      {60,
       0,
       {0.63954802259887, {5.205852159058097e-13, 2.6029260795290486e-13, 0.9999999999997397}}},
      {60, 7, {0.07808506534955365, {0.4354068374964938, 0.2177034187482469, 0.782296581251753}}},
      {500, 0, {0.7002645290581162, {3.7437277700195052e-121, 1.8718638850097526e-121, 1.0}}},
      {500,
       11,
       {0.008978962486896898, {0.7829765165941704, 0.3914882582970852, 0.6085117417029148}}},
      {3000, 0, {0.7069996800043435, {0.0, 0.0, 1.0}}},
      {3000,
       50,
       {0.023939263908066544, {0.05396160086266712, 0.02698080043133356, 0.9730191995686664}}}};
  for (const row& r : rows) {
    std::vector<double> x = congruential(r.cols, 1);
    std::vector<double> y = congruential(r.cols, 2);
    const std::uint64_t modulus = r.modulus == 0 ? 1'000'000'000 : r.modulus;
    for (std::size_t k = 0; k < r.cols; ++k) {
      const auto a = static_cast<std::uint64_t>(x[k]);
      const auto b = static_cast<std::uint64_t>(y[k]);
      x[k] = static_cast<double>(a % modulus);
      y[k] = static_cast<double>((a + b / 2) % modulus);
    }
    check_literal(x, y, r.wanted);
  }
}

TEST_CASE("Kendall's p of nearly the same or the opposite order is exact", "[kendall]") {
  std::vector<double> x(40);
  std::iota(x.begin(), x.end(), 0.0);
  std::vector<double> y = x;
  check_literal(x, y, {1.0, {2.451234878256772e-48, 1.225617439128386e-48, 1.0}});
  std::swap(y[3], y[4]);
  check_literal(x, y, {778.0 / 780, {9.804939513027087e-47, 4.902469756513544e-47, 1.0}});
  std::swap(y[13], y[14]);
  check_literal(x, y, {776.0 / 780, {1.549572233556233e-19, 7.747861167781165e-20, 1.0}});
  y.assign(x.rbegin(), x.rend());
  check_literal(x, y, {-1.0, {2.451234878256772e-48, 1.0, 1.225617439128386e-48}});
}

TEST_CASE("Kendall's p is that of the textbook", "[kendall]") {
  for (const gpu::index_t cols : {3, 4, 6, 10, 20, 33, 34, 50, 200}) {
    const auto data = gpu_test::mixed_rows<double>(30, cols, static_cast<std::uint64_t>(cols));
    for (const gpu::tail side : sides) {
      for (const auto& pair : gpu_test::every_pair(gpu_test::const_view(data), side)) {
        const auto wanted = static_cast<double>(gpu_test::reference_kendall_p(
            data.view().row(pair.row), data.view().row(pair.col), cols, side));
        INFO(cols << " columns, rows " << pair.row << " and " << pair.col);
        REQUIRE(std::abs(pair.p - wanted) <= 1e-12 * wanted);
      }
    }
  }
}

TEST_CASE("What Kendall does not offer is refused", "[kendall]") {
  const auto data = gpu_test::mixed_rows<float>(12, 9, 1);
  const auto wide = gpu_test::mixed_rows<float>(3, 2049, 1);
  gpu::pair_options options;
  options.exec.target = gpu::backend::cuda;
  CHECK_THROWS_AS(gpu::kendall_all_pairs(wide.view(), options, gpu::edge_sink{}), gpu::unsupported);
  CHECK_THROWS_AS(gpu::plan_all_pairs(gpu::measure::kendall, wide.view(), options),
                  gpu::unsupported);
  CHECK_THROWS_AS(gpu::prepare_rows(gpu::measure::kendall, wide.view(), options), gpu::unsupported);
  options = {};
  const auto got = gpu::kendall_all_pairs(wide.view(), options, gpu::edge_sink{});
  CHECK(got.summary.used == gpu::backend::cpu);
  CHECK(gpu::plan_all_pairs(gpu::measure::kendall, wide.view(), options).used == gpu::backend::cpu);
  options.fold = gpu::row_folding::always;
  CHECK_THROWS_AS(gpu::kendall_all_pairs(data.view(), options, gpu::edge_sink{}), gpu::unsupported);
  CHECK_THROWS_AS(gpu::p_value_of(gpu::measure::kendall, 0.5, 9), gpu::unsupported);
  CHECK_THROWS_AS(gpu::confidence_interval(gpu::measure::kendall, 0.5, 9), gpu::unsupported);
  const gpu::matrix<float> narrow(3, 2);
  CHECK_THROWS_AS(gpu::kendall_all_pairs(narrow.view()), gpu::invalid_argument);
}

TEST_CASE("kendall_p_value refuses what no row is", "[kendall]") {
  CHECK_THROWS_AS(gpu::kendall_p_value(0.5, 2), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::kendall_p_value(0.5, 1'000'001), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::kendall_p_value(1.5, 9), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::kendall_p_value(0.5, 9, {.pairs = 36, .triples = 504}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::kendall_p_value(0.5, 9, {}, {.pairs = -1, .triples = 0}),
                  gpu::invalid_argument);
  CHECK(std::isnan(gpu::kendall_p_value(std::numeric_limits<double>::quiet_NaN(), 9)));
}
