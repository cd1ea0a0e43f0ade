// Connectivity on the CPU, and what follows from it: scale-free fits and topological overlaps, held
// to literals of an independent script (literals.py) and to their definitions.
#include <random>

#include <gpu/error.hpp>

#include "connectivity/connectivity_cases.hpp"
#include "support/least_workspace.hpp"
#include "support/refusals.hpp"

namespace {

using namespace gpu_test;

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

bool names(const std::string& refusal, const std::string& what) {
  return refusal.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("Connectivity is the sum of powers", "[connectivity]") {
  for (const gpu::measure what : gpu::all_measures()) {
    sums_are_those_of_the_definition(what, tiled);
  }
  sums_are_those_of_the_textbook(tiled);
  sums_are_those_of_the_definition(gpu::measure::pearson, naive);
}

TEST_CASE("Powers, parts and missing values", "[connectivity]") {
  many_powers_are_each_of_their_own(tiled);
  parts_join_to_the_whole(tiled);
  missing_values_add_nothing(tiled,
                             {gpu::measure::pearson, gpu::measure::kendall, gpu::measure::bicor});
}

TEST_CASE("Connectivity has the same bytes whatever computes it", "[connectivity]") {
  const auto data = network_rows(1300, 24, 9);
  const gpu::connectivity_sink sink{.powers = {1, 6, 2.5, 3.3}};
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::spearman}) {
    gpu::pair_options options = network_options(tiled);
    options.exec.cpu_threads = 1;
    const auto wanted = gpu::all_pairs(what, data, options, sink);
    for (const int threads : {2, 3, 7}) {
      options.exec.cpu_threads = threads;
      CHECK(same_bytes_of(gpu::all_pairs(what, data, options, sink).connectivity,
                          wanted.connectivity));
    }
    // Rows in windows.
    options.exec.cpu_threads = 2;
    options.exec.workspace_bytes = least_workspace(
        [&](const gpu::pair_options& how) { (void)gpu::all_pairs(what, data, how, sink); },
        options);
    REQUIRE(options.exec.workspace_bytes > 0);
    CHECK(
        same_bytes_of(gpu::all_pairs(what, data, options, sink).connectivity, wanted.connectivity));
    // Of a part too.
    options.part = {.index = 1, .of = 3};
    const auto part = gpu::all_pairs(what, data, options, sink);
    const gpu::index_t first = part.summary.part_begin;
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < part.connectivity.rows(); ++i) {
      wrong += std::memcmp(part.connectivity.row(i).data(),
                           wanted.connectivity.row(first + i).data(), 4 * sizeof(double)) != 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Powers of what is 0, 1 and nearly 0", "[connectivity]") {
  // Rows whose correlations are exactly 1 or -1, and 0.
  gpu::matrix<double> data(4, 4);
  const double rows[4][4] = {{1, 2, 3, 4}, {2, 4, 6, 8}, {4, 3, 2, 1}, {1, -1, -1, 1}};
  for (gpu::index_t i = 0; i < 4; ++i) {
    std::copy_n(rows[i], 4, data.row(i).data());
  }
  const std::vector<double> powers{0.1, 0.5, 1, 6, 30};
  const auto k_of = [&](gpu::network_kind kind) {
    return gpu::spearman_all_pairs(data, tiled.options(),
                                   gpu::connectivity_sink{.powers = powers, .network = kind});
  };
  const auto magnitudes = k_of(gpu::network_kind::unsigned_network);
  const auto with_sign = k_of(gpu::network_kind::signed_network);
  const auto hybrid = k_of(gpu::network_kind::signed_hybrid);
  for (gpu::index_t p = 0; p < 5; ++p) {
    CHECK(magnitudes.connectivity(0, p) == 2);
    CHECK(magnitudes.connectivity(3, p) == 0);
    CHECK(hybrid.connectivity(0, p) == 1);
    CHECK(hybrid.connectivity(2, p) == 0);
    const double half = std::pow(0.5, powers[static_cast<std::size_t>(p)]);
    CHECK(with_sign.connectivity(3, p) == Approx(3 * half).epsilon(1e-14));
    CHECK(with_sign.connectivity(2, p) == Approx(half).epsilon(1e-14));
  }
}

TEST_CASE("What connectivity does not take is refused before any work", "[connectivity]") {
  const auto data = random_matrix<float>(20, 12, 1);
  const auto refused = [&](const std::vector<double>& powers) {
    return refusal_of<gpu::invalid_argument>([&] {
      (void)gpu::pearson_all_pairs(data, tiled.options(), gpu::connectivity_sink{.powers = powers});
    });
  };
  CHECK(names(refused({}), "connectivity_sink.powers: got 0 of them, expected 1 to 64"));
  CHECK(names(refused(std::vector<double>(65, 1.0)), "got 65 of them"));
  CHECK(names(refused({1, 0}), "connectivity_sink.powers[1]: got 0, expected above 0"));
  CHECK(names(refused({-1}), "powers[0]: got -1"));
  CHECK(names(refused({100.5}), "at most 100"));
  CHECK(names(refused({std::numeric_limits<double>::quiet_NaN()}), "got nan"));
  CHECK(names(refused({std::numeric_limits<double>::infinity()}), "got inf"));
  CHECK_THROWS_AS(
      gpu::pearson_all_pairs(data, tiled.options(),
                             gpu::connectivity_sink{.network = static_cast<gpu::network_kind>(9)}),
      gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, data, tiled.options(), gpu::connectivity_sink{}),
                  gpu::unsupported);
  gpu::pair_options folded = tiled.options();
  folded.fold = gpu::row_folding::always;
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, folded, gpu::connectivity_sink{}),
                  gpu::unsupported);
  CHECK(gpu::to_string(gpu::network_kind::signed_hybrid) == "signed_hybrid");
  CHECK(gpu::to_string(static_cast<gpu::network_kind>(9)) == "unknown");
}

namespace {

// 100 times a share, as often as the power says: the same doubles as in literals.py.
gpu::matrix<double> made_up_connectivity(gpu::index_t rows, const std::vector<double>& powers) {
  gpu::matrix<double> out(rows, static_cast<gpu::index_t>(powers.size()));
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double share = static_cast<double>(i * 7919 % 1009 + 1) / 1009.0;
    for (gpu::index_t p = 0; p < out.cols(); ++p) {
      double k = 100;
      for (int n = 0; n < powers[static_cast<std::size_t>(p)]; ++n) k *= share;
      out(i, p) = k;
    }
  }
  return out;
}

struct wanted_fit {
  double power, r_squared, slope, truncated, mean, median, max;
};

void check_fits(const gpu::scale_free_fits& got, const std::vector<wanted_fit>& wanted) {
  REQUIRE(got.fits.size() == wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    const gpu::scale_free_fit_line& line = got.fits[p];
    INFO("power " << wanted[p].power);
    CHECK(line.power == wanted[p].power);
    CHECK(line.r_squared == Approx(wanted[p].r_squared).epsilon(1e-9));
    CHECK(line.slope == Approx(wanted[p].slope).epsilon(1e-9));
    const double sign = wanted[p].slope > 0 ? -1 : 1;
    CHECK(line.signed_r_squared == Approx(sign * wanted[p].r_squared).epsilon(1e-9));
    CHECK(line.truncated_r_squared == Approx(wanted[p].truncated).epsilon(1e-9));
    CHECK(line.mean == Approx(wanted[p].mean).epsilon(1e-13));
    CHECK(line.median == Approx(wanted[p].median).epsilon(1e-13));
    CHECK(line.max == Approx(wanted[p].max).epsilon(1e-13));
  }
}

}  // namespace

TEST_CASE("Scale-free fits are those of least squares over bins", "[connectivity]") {
  const std::vector<double> powers{1, 2, 4, 8};
  const auto k = made_up_connectivity(301, powers);
  // From literals.py.
  const auto ten = gpu::scale_free_fit(k.view(), powers);
  check_fits(ten, {{1, 0.00177615608180226, 0.00167883655086706, -0.0925149414221504,
                    50.1545887675373, 50.5450941526264, 99.8017839444995},
                   {2, 0.993210238584475, -0.525256047452206, 0.993915599687115, 33.5049361204383,
                    25.5480654289786, 99.6039607850456},
                   {4, 0.99646123338173, -0.789050300449284, 0.996706342177552, 20.1240454048368,
                    6.52703647163373, 99.209490040689},
                   {8, 0.978261471084185, -0.905820274045273, 0.973428658396209, 11.1806229010901,
                    0.426022051020369, 98.4252291413356}});
  CHECK(ten.power == 2);
  const auto rest = gpu::scale_free_fit(k.view(), powers, {.without_first_bin = true});
  check_fits(rest, {{1, 0.197904402615219, 0.0269570166011986, -0.0627765077001661,
                     50.1545887675373, 50.5450941526264, 99.8017839444995},
                    {2, 0.984706122863031, -0.486885146006942, 0.979683975204961, 33.5049361204383,
                     25.5480654289786, 99.6039607850456},
                    {4, 0.988124476198592, -0.750748619841629, 0.985216262184687, 20.1240454048368,
                     6.52703647163373, 99.209490040689},
                    {8, 0.890731587639677, -0.858523586573962, 0.858035307433023, 11.1806229010901,
                     0.426022051020369, 98.4252291413356}});
  const auto many = gpu::scale_free_fit(k.view(), powers, {.bins = 25, .r_squared_cut = 0.97});
  CHECK(many.fits[0].r_squared == Approx(5.51676721745054e-05).epsilon(1e-6));
  CHECK(many.fits[1].truncated_r_squared == Approx(0.979627405088802).epsilon(1e-9));
  CHECK(many.fits[3].r_squared == Approx(0.928286759121538).epsilon(1e-9));
  CHECK(many.power == 2);
  CHECK_FALSE(gpu::scale_free_fit(k.view(), powers, {.r_squared_cut = 0.999}).power.has_value());
}

namespace {

// R^2 and slope of WGCNA's scaleFreeFitIndex, by the algorithms of R: the breaks of
// cut.default(k, bins) are those of seq.int(), the first and last moved by a thousandth of the
// range; .bincode() bisects them; hist() has the middles of the breaks that were not moved.
struct fit_of_r {
  double r_squared;
  double slope;
};

fit_of_r scale_free_fit_of_r(const std::vector<double>& k, int bins) {
  const auto [least, most] = std::minmax_element(k.begin(), k.end());
  const double range = *most - *least;
  const double by = range / bins;
  std::vector<double> breaks(static_cast<std::size_t>(bins) + 1, *least);
  for (int i = 1; i < bins; ++i) {
    const volatile double step = i * by;  // rounded before it is added
    breaks[static_cast<std::size_t>(i)] += step;
  }
  breaks.back() = *most;
  std::vector<double> middles;
  for (std::size_t b = 0; b + 1 < breaks.size(); ++b) {
    middles.push_back(0.5 * (breaks[b + 1] + breaks[b]));
  }
  breaks.front() -= range / 1000;
  breaks.back() += range / 1000;
  std::vector<long double> sums(middles.size(), 0);
  std::vector<int> counts(middles.size(), 0);
  for (const double value : k) {
    std::size_t low = 0;
    std::size_t high = breaks.size() - 1;
    while (high - low >= 2) {
      const std::size_t middle = (low + high) / 2;
      (value > breaks[middle] ? low : high) = middle;
    }
    sums[low] += value;
    ++counts[low];
  }
  long double x_sum = 0, y_sum = 0;
  std::vector<long double> x, y;
  for (std::size_t b = 0; b < middles.size(); ++b) {
    const long double mean = counts[b] > 0 && sums[b] != 0 ? sums[b] / counts[b] : middles[b];
    x_sum += x.emplace_back(std::log10(mean));
    y_sum += y.emplace_back(std::log10(
        static_cast<long double>(counts[b]) / static_cast<long double>(k.size()) + 1e-9L));
  }
  long double xx = 0, xy = 0, yy = 0;
  for (std::size_t b = 0; b < x.size(); ++b) {
    const long double dx = x[b] - x_sum / bins;
    const long double dy = y[b] - y_sum / bins;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  return {static_cast<double>(xy * xy / (xx * yy)), static_cast<double>(xy / xx)};
}

}  // namespace

TEST_CASE("Connectivities at a break are in the bin that R puts them into", "[connectivity]") {
  std::mt19937_64 engine(44);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const int bins = trial % 3 == 0 ? 10 : 3 + static_cast<int>(engine() % 40);
    const double least = trial % 5 == 0 ? 0.0 : uniform(engine);
    const double range = std::exp(12 * uniform(engine) - 6);
    std::vector<double> k{least, least + range};
    for (int i = 1; i < bins; ++i) {
      const volatile double step = i * ((k[1] - k[0]) / bins);
      const double at = least + step;
      // Of some breaks the value itself, of some its neighbours.
      for (const double value : {at, std::nextafter(at, 0.0), std::nextafter(at, 1e9)}) {
        if (engine() % 2 == 0) k.push_back(value);
      }
    }
    for (int i = 0; i < 20; ++i) k.push_back(least + uniform(engine) * range);
    gpu::matrix<double> column(static_cast<gpu::index_t>(k.size()), 1);
    std::copy(k.begin(), k.end(), column.data());
    const auto got = gpu::scale_free_fit(column.view(), {1}, {.bins = bins});
    const fit_of_r wanted = scale_free_fit_of_r(k, bins);
    INFO("trial " << trial << ", " << bins << " bins");
    CHECK(got.fits[0].r_squared == Approx(wanted.r_squared).epsilon(1e-9).margin(1e-12));
    CHECK(got.fits[0].slope == Approx(wanted.slope).epsilon(1e-9).margin(1e-12));
  }
}

TEST_CASE("Bins without rows, rows without a connectivity", "[connectivity]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  gpu::matrix<double> k(8, 3);
  const double first[8] = {0, nan, 57, 0, 100, 0, nan, 33};
  for (gpu::index_t i = 0; i < 8; ++i) {
    k(i, 0) = first[i];
    k(i, 1) = nan;
    k(i, 2) = 7;
  }
  const auto got = gpu::scale_free_fit(k.view(), {1, 2, 3});
  const gpu::scale_free_fit_line& line = got.fits[0];
  CHECK(line.r_squared == Approx(0.0456905787981264).epsilon(1e-9));
  CHECK(line.slope == Approx(-2.29314086830963).epsilon(1e-9));
  CHECK(line.truncated_r_squared == Approx(-0.0772395771821908).epsilon(1e-9));
  CHECK(line.mean == Approx(190.0 / 6));
  CHECK(line.median == 16.5);
  CHECK(line.max == 100);
  CHECK(std::isnan(got.fits[1].mean));
  CHECK(std::isnan(got.fits[1].r_squared));
  CHECK(got.fits[2].mean == 7);
  CHECK(std::isnan(got.fits[2].slope));
  CHECK(std::isnan(got.fits[2].signed_r_squared));
  CHECK_FALSE(got.power.has_value());
}

TEST_CASE("What a scale-free fit does not take is refused", "[connectivity]") {
  gpu::matrix<double> k(3, 1);
  k(0, 0) = k(1, 0) = k(2, 0) = 1;
  const auto refused = [&](const std::vector<double>& powers, gpu::scale_free_options options) {
    return refusal_of<gpu::invalid_argument>(
        [&] { (void)gpu::scale_free_fit(k.view(), powers, options); });
  };
  CHECK(names(refused({1, 2}, {}), "powers: got 2 of them"));
  CHECK(names(refused({1}, {.bins = 2}), "scale_free_options.bins: got 2, expected 3 to 10000"));
  CHECK(names(refused({1}, {.r_squared_cut = NAN}), "r_squared_cut: got nan"));
  k(1, 0) = -1;
  CHECK(names(refused({1}, {}), "connectivity: got -1 in row 1, column 0"));
  k(1, 0) = INFINITY;
  CHECK(names(refused({1}, {}), "got inf in row 1"));
}

TEST_CASE("Fits of a connectivity table", "[connectivity]") {
  const auto data = network_rows(400, 20, 3);
  const auto table = gpu::pearson_all_pairs(data, network_options(tiled), gpu::connectivity_sink{});
  const auto fits = gpu::scale_free_fit(table);
  REQUIRE(fits.fits.size() == table.powers.size());
  for (std::size_t p = 1; p < fits.fits.size(); ++p) {
    CHECK(fits.fits[p].mean < fits.fits[p - 1].mean);
  }
}

TEST_CASE("Topological overlap of four rows", "[connectivity]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // Only what is above the diagonal is read.
  const double r[4][4] = {{1, 0.9, -0.8, 0.1}, {nan, 1, -0.7, 0.2}, {9, 9, 1, -0.3}, {9, 9, 9, 1}};
  gpu::matrix<double> statistics(4, 4);
  for (gpu::index_t i = 0; i < 4; ++i) std::copy_n(r[i], 4, statistics.row(i).data());
  const auto got = gpu::topological_overlap(statistics.view());
  // From literals.py.
  const double wanted[4][4] = {{1, 0.503064721909828, 0.2903021187273, 0.000225936032726048},
                               {0, 1, 0.203475025723093, 0.000150187924814885},
                               {0, 0, 1, 0.000736743791653542},
                               {0, 0, 0, 1}};
  for (gpu::index_t i = 0; i < 4; ++i) {
    for (gpu::index_t j = i; j < 4; ++j) {
      CHECK(got(i, j) == Approx(wanted[i][j]).epsilon(1e-12));
      CHECK(got(j, i) == got(i, j));
    }
  }
}

TEST_CASE("Topological overlap is that of the definition", "[connectivity]") {
  const auto data = network_rows(40, 15, 12);
  const auto r = gpu::pearson_all_pairs(data, network_options(tiled));
  for (const gpu::network_kind kind : all_networks) {
    for (const double power : {1.0, 6.0, 2.5, 3.3}) {
      const auto got = gpu::topological_overlap(r.view(), {.power = power, .network = kind});
      const auto a = [&](gpu::index_t i, gpu::index_t j) -> long double {
        return i == j ? 0
                      : std::pow(reference_base(r(i, j), kind), static_cast<long double>(power));
      };
      gpu::index_t wrong = 0;
      for (gpu::index_t i = 0; i < 40; ++i) {
        for (gpu::index_t j = 0; j < 40; ++j) {
          const bool has = !std::isnan(r(i, i)) && !std::isnan(r(j, j));
          long double shared = 0;
          long double of_i = 0;
          long double of_j = 0;
          for (gpu::index_t u = 0; u < 40; ++u) {
            shared += a(i, u) * a(u, j);
            of_i += a(i, u);
            of_j += a(j, u);
          }
          const long double wanted =
              i == j ? 1 : (shared + a(i, j)) / (std::min(of_i, of_j) + 1 - a(i, j));
          wrong += has ? !(std::fabs(got(i, j) - wanted) <= 1e-13L) : !std::isnan(got(i, j));
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("What topological overlap does not take is refused", "[connectivity]") {
  gpu::matrix<double> r(2, 3);
  std::fill_n(r.data(), 6, 1.0);
  const auto refused = [](gpu::matrix_view<const double> statistics, gpu::overlap_options options) {
    return refusal_of<gpu::invalid_argument>(
        [&] { (void)gpu::topological_overlap(statistics, options); });
  };
  CHECK(names(refused(r.view(), {}), "statistics: got [2, 3]"));
  const gpu::matrix_view<const double> square(r.data(), 2, 2, 3);
  CHECK(names(refused(square, {.power = 0}), "overlap_options.power: got 0"));
  CHECK(names(refused(square, {.network = static_cast<gpu::network_kind>(3)}),
              "overlap_options.network: got 3"));
  CHECK(refused(square, {}).empty());
  r(0, 1) = 1.5;
  CHECK(names(refused(square, {}), "statistics: got 1.5 in row 0, column 1"));
  CHECK(gpu::topological_overlap(gpu::matrix_view<const double>()).empty());
}
