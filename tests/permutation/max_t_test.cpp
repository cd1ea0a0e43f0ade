// The largest statistics of shuffled tables on the CPU: held to the textbook, and to what must stay
// the same when the table or the way of computing changes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gpu/error.hpp>

#include "permutation/max_t_cases.hpp"
#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/csr_cases.hpp"
#include "support/refusals.hpp"

namespace {

using namespace gpu_test;

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("A permutation is one, and follows from seed and number alone", "[max_t]") {
  for (const gpu::index_t cols : {0, 1, 2, 17, 1000}) {
    auto columns = gpu::column_permutation(cols, 42, 3);
    CHECK(columns == gpu::column_permutation(cols, 42, 3));
    if (cols > 2) CHECK(columns != gpu::column_permutation(cols, 42, 4));
    if (cols > 2) CHECK(columns != gpu::column_permutation(cols, 43, 3));
    std::sort(columns.begin(), columns.end());
    for (gpu::index_t k = 0; k < cols; ++k) CHECK(columns[static_cast<std::size_t>(k)] == k);
  }
  // What a seed gives does not change between versions and machines: from the algorithm that the
  // header names, written once more in Python.
  using columns = std::vector<gpu::index_t>;
  CHECK(gpu::column_permutation(8, 1, 0) == columns{1, 3, 5, 2, 0, 6, 7, 4});
  CHECK(gpu::column_permutation(8, 1, 1) == columns{0, 7, 6, 3, 2, 4, 1, 5});
  CHECK(gpu::column_permutation(5, ~std::uint64_t{0}, 12345) == columns{2, 0, 3, 4, 1});
  CHECK_THROWS_AS(gpu::column_permutation(-1, 0, 0), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::column_permutation(5, 0, -1), gpu::invalid_argument);
}

TEST_CASE("All permutations are equally likely", "[max_t]") {
  std::map<std::vector<gpu::index_t>, int> seen;
  constexpr int draws = 24'000;
  for (int number = 0; number < draws; ++number) ++seen[gpu::column_permutation(4, 7, number)];
  CHECK(seen.size() == 24);
  double chi_square = 0;
  for (const auto& [columns, count] : seen) {
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  CHECK(chi_square < 49.7);  // 23 degrees: one in a thousand is above
  CHECK(chi_square > 7.5);
}

TEST_CASE("Maxima are those of the textbook", "[max_t]") {
  for (const gpu::measure what : gpu::all_measures()) {
    maxima_are_those_of_the_textbook<double>(what, tiled);
    maxima_are_those_of_the_textbook<std::int8_t>(what, tiled);
    maxima_are_those_of_the_textbook<float>(what, naive);
  }
  many_pairs_have_the_maxima_of_the_textbook(tiled);
  rows_with_a_nan_are_left_out(tiled);
}

TEST_CASE("A cut keeps the pairs whose adjusted p is small enough", "[max_t]") {
  edges_by_the_cut_have_such_p(tiled);
  nothing_is_rare_among_three_columns(tiled);
  nothing_is_rare_among_three_columns(naive);
}

TEST_CASE("Circular shifts hold the error rate of time series, permutations do not", "[max_t]") {
  // 100 tables of rows that have nothing to do with each other: AR(1), each step 0.9 of the last.
  constexpr gpu::index_t cols = 80;
  const auto tables_with_a_pair = [&](gpu::column_shuffle shuffle) {
    int out = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      auto x = random_matrix<double>(12, cols, 1000 + seed);
      for (gpu::index_t i = 0; i < x.rows(); ++i) {
        for (gpu::index_t k = 1; k < cols; ++k) x(i, k) += 0.9 * x(i, k - 1);
      }
      const auto null = gpu::max_t(gpu::measure::pearson, x, tiled.options(),
                                   {.permutations = cols - 1, .shuffle = shuffle});
      const gpu::count_sink kept{.keep = null.keep(0.05)};
      out += gpu::pearson_all_pairs(x, tiled.options(), kept).kept > 0 ? 1 : 0;
    }
    return out;
  };
  // 5 are expected; more than 12 of one in a thousand experiments.
  const int by_shifts = tables_with_a_pair(gpu::column_shuffle::circular);
  INFO(by_shifts << " tables by shifts");
  CHECK(by_shifts <= 12);
  CHECK(tables_with_a_pair(gpu::column_shuffle::permutation) >= 90);
}

TEST_CASE("Shifts that there are not are refused", "[max_t]") {
  const auto x = random_matrix<double>(5, 20, 1);
  const auto refused = [&](gpu::index_t permutations) {
    return refusal_of([&] {
      (void)gpu::max_t(gpu::measure::pearson, x, tiled.options(),
                       {.permutations = permutations, .shuffle = gpu::column_shuffle::circular});
    });
  };
  CHECK(refused(19).empty());
  CHECK(refused(20).starts_with("max_t_options.permutations: got 20, expected at most 19"));
  CHECK(refused(20).find("20 columns have 19 shifts") != std::string::npos);
  // All shifts are all of them, whatever the seed.
  const auto maxima = [&](std::uint64_t seed, gpu::index_t permutations) {
    return gpu::max_t(gpu::measure::spearman, x, tiled.options(),
                      {.permutations = permutations,
                       .seed = seed,
                       .shuffle = gpu::column_shuffle::circular})
        .maxima;
  };
  CHECK(maxima(1, 19) == maxima(2, 19));
  CHECK(maxima(1, 9) != maxima(2, 9));
}

TEST_CASE("Adjusted p counts maxima that are as large", "[max_t]") {
  const gpu::max_t_null null{.maxima = {0.9, 0.7, 0.7, 0.5}};
  CHECK(null.adjusted_p(0.95) == 1 / 5.0);
  CHECK(null.adjusted_p(-0.9) == 2 / 5.0);
  CHECK(null.adjusted_p(0.7) == 4 / 5.0);
  CHECK(null.adjusted_p(0.6) == 4 / 5.0);
  CHECK(null.adjusted_p(0) == 1);
  CHECK(std::isnan(null.adjusted_p(std::nan(""))));
  CHECK(null.cut(0.2) == std::nextafter(0.9, 1.0));
  CHECK(null.cut(0.4) == std::nextafter(0.7, 1.0));
  CHECK(null.cut(0.79) == std::nextafter(0.7, 1.0));
  CHECK(null.cut(0.8) == std::nextafter(0.5, 1.0));
  CHECK(null.cut(1) == 0);
  const gpu::max_t_null greater{.maxima = {0.4, -0.2}, .side = gpu::tail::greater};
  CHECK(greater.adjusted_p(-0.3) == 1);
  CHECK(greater.adjusted_p(-0.1) == 2 / 3.0);
  CHECK(greater.cut(0.7) == std::nextafter(-0.2, 1.0));
  CHECK(greater.keep(0.7).min_abs > 0);
  const gpu::max_t_null less{.maxima = {0.4, 0.1}, .side = gpu::tail::less};
  CHECK(less.adjusted_p(-0.4) == 2 / 3.0);
  CHECK(less.adjusted_p(0.9) == 1);
  CHECK(less.keep(0.4).side == gpu::tail::less);
  for (const double level : {0.0, 0.19, 1.01, -1.0, std::nan("")}) {
    CHECK_THROWS_AS(null.cut(level), gpu::invalid_argument);
  }
  CHECK_THROWS_AS(gpu::max_t_null{}.cut(0.5), gpu::invalid_argument);
}

TEST_CASE("Threads, variants, memory and layout change no bit", "[max_t]") {
  const auto x = random_matrix<float>(130, 21, 6);
  const auto y = random_matrix<float>(70, 21, 7);
  for (const gpu::measure what : gpu::all_measures()) {
    INFO(gpu::to_string(what));
    const gpu::max_t_options how{.permutations = 13, .seed = 3};
    const auto one = gpu::max_t(what, x, tiled.options(), how).maxima;
    const auto two = gpu::max_t(what, x, y, tiled.options(), how).maxima;
    for (const int threads : {1, 5}) {
      for (const std::size_t workspace : {std::size_t{0}, std::size_t{1} << 22}) {
        for (const gpu::pair_variant variant :
             {gpu::pair_variant::tiled, gpu::pair_variant::naive}) {
          gpu::pair_options options = tiled.options();
          options.variant = variant;
          options.exec.cpu_threads = threads;
          options.exec.workspace_bytes = workspace;
          CHECK(gpu::max_t(what, x, options, how).maxima == one);
          CHECK(gpu::max_t(what, x, y, options, how).maxima == two);
        }
      }
    }
    gpu::matrix<float> turned(21, 130);
    for (gpu::index_t i = 0; i < 130; ++i) {
      for (gpu::index_t k = 0; k < 21; ++k) turned(k, i) = x(i, k);
    }
    CHECK(gpu::max_t(what, gpu::transposed(turned), tiled.options(), how).maxima == one);
    auto other = how;
    other.seed = 4;
    CHECK(gpu::max_t(what, x, tiled.options(), other).maxima != one);
  }
}

TEST_CASE("Sparse tables have the maxima of dense ones", "[max_t]") {
  const auto x = thin_rows<float>(30, 14, 3);
  const in_csr<float> sparse(x);
  for (const gpu::measure what : gpu::all_measures()) {
    INFO(gpu::to_string(what));
    const gpu::max_t_options how{.permutations = 9};
    CHECK(gpu::max_t(what, sparse.view(), tiled.options(), how).maxima ==
          gpu::max_t(what, x, tiled.options(), how).maxima);
  }
}

TEST_CASE("What a change of the table does to the maxima", "[max_t]") {
  const gpu::max_t_options how{.permutations = 30, .seed = 8};
  const auto x = random_matrix<double>(40, 11, 5);
  const auto maxima_of = [&](gpu::measure what, const gpu::matrix<double>& table) {
    return gpu::max_t(what, table, tiled.options(), how).maxima;
  };
  gpu::matrix<double> grown(x.rows(), x.cols());
  gpu::matrix<double> negated(x.rows(), x.cols());
  gpu::matrix<double> copied(x.rows() + 1, x.cols());
  gpu::matrix<double> constant(x.rows() + 1, x.cols());
  for (gpu::index_t k = 0; k < x.cols(); ++k) {
    for (gpu::index_t i = 0; i < x.rows(); ++i) {
      grown(i, k) = std::exp(x(i, k));
      negated(i, k) = i % 3 == 0 ? -x(i, k) : x(i, k);
      copied(i, k) = constant(i, k) = x(i, k);
    }
    copied(x.rows(), k) = x(4, k);
    constant(x.rows(), k) = 3;
  }
  CHECK(maxima_of(gpu::measure::spearman, grown) == maxima_of(gpu::measure::spearman, x));
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    const auto plain = maxima_of(what, x);
    CHECK(maxima_of(what, negated) == plain);
    CHECK(maxima_of(what, constant) == plain);
    // More pairs: no maximum falls.
    const auto more = maxima_of(what, copied);
    bool falls = false;
    for (std::size_t b = 0; b < plain.size(); ++b) falls |= more[b] < plain[b];
    CHECK_FALSE(falls);
    CHECK(more != plain);
  }
}

TEST_CASE("Where no row depends on another, p of the largest statistic is uniform", "[max_t]") {
  if (at_named_level()) return;
  constexpr int tables = 600;
  constexpr gpu::index_t permutations = 39;
  std::array<int, 4> one{};
  std::array<int, 4> two{};
  constexpr std::array levels{0.05, 0.1, 0.25, 0.5};
  for (int t = 0; t < tables; ++t) {
    const auto seed = static_cast<std::uint64_t>(t);
    const auto x = random_matrix<double>(15, 9, 2 * seed + 1);
    const auto y = random_matrix<double>(12, 9, 2 * seed + 2);
    gpu::pair_options options = tiled.options();
    options.exec.cpu_threads = 1;
    const gpu::max_t_options how{.permutations = permutations, .seed = seed};
    const auto count = [&](const gpu::max_t_null& null, const auto& edges,
                           std::array<int, 4>& low) {
      double largest = 0;
      for (const gpu::edge& e : edges) largest = std::max(largest, std::fabs(e.statistic));
      const double p = null.adjusted_p(largest);
      for (std::size_t l = 0; l < levels.size(); ++l) low[l] += p <= levels[l] ? 1 : 0;
    };
    count(gpu::max_t(gpu::measure::pearson, x, options, how),
          gpu::all_pairs(gpu::measure::pearson, x, options, gpu::edge_sink{}).edges, one);
    count(gpu::max_t(gpu::measure::pearson, x, y, options, how),
          gpu::all_pairs(gpu::measure::pearson, x, y, options, gpu::edge_sink{}).edges, two);
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double expected = tables * levels[l];
    const double spread = std::sqrt(expected * (1 - levels[l]));
    INFO("level " << levels[l] << ": " << one[l] << " and " << two[l] << " of " << tables);
    CHECK(std::fabs(one[l] - expected) < 3 * spread);
    CHECK(std::fabs(two[l] - expected) < 3 * spread);
  }
}

TEST_CASE("Very few and very many permutations", "[max_t]") {
  const auto x = random_matrix<float>(3, 5, 1);
  const auto one = gpu::max_t(gpu::measure::spearman, x, tiled.options(), {.permutations = 1});
  CHECK(one.maxima.size() == 1);
  CHECK(one.cut(0.5) > 0);
  const auto many =
      gpu::max_t(gpu::measure::spearman, x, tiled.options(), {.permutations = 200'001});
  CHECK(many.maxima.size() == 200'001);
  CHECK(std::is_sorted(many.maxima.rbegin(), many.maxima.rend()));
  CHECK(many.maxima.back() >= 0);
  // No row, and rows of which none has a statistic.
  const gpu::matrix<float> none(0, 5);
  CHECK(gpu::max_t(gpu::measure::spearman, none, tiled.options(), {.permutations = 2}).maxima ==
        std::vector<double>{0, 0});
  gpu::matrix<float> zeros(4, 5);
  std::fill_n(zeros.data(), 20, 0.0F);
  CHECK(gpu::max_t(gpu::measure::pearson, zeros, tiled.options(),
                   {.permutations = 2, .side = gpu::tail::less})
            .maxima == std::vector<double>{-1, -1});
}

TEST_CASE("What max-T does not take is refused before any work", "[max_t]") {
  const auto x = random_matrix<double>(6, 5, 1);
  const auto refused = [&](const gpu::pair_options& options, const gpu::max_t_options& how) {
    return refusal_of([&] { (void)gpu::max_t(gpu::measure::spearman, x, options, how); });
  };
  CHECK(refused(tiled.options(), {.permutations = 0}) ==
        "max_t_options.permutations: got 0, expected 1 to 1000000");
  CHECK(refused(tiled.options(), {.permutations = 1'000'001}).find("expected 1 to") !=
        std::string::npos);
  CHECK(refused(tiled.options(), {.side = static_cast<gpu::tail>(7)}).find("max_t_options.side") !=
        std::string::npos);
  gpu::pair_options pairwise = tiled.options();
  pairwise.nans = gpu::nan_policy::pairwise;
  CHECK(refused(pairwise, {}).find("options.nans: pairwise") != std::string::npos);
  gpu::pair_options part = tiled.options();
  part.part = {.index = 0, .of = 2};
  CHECK(refused(part, {}).find("options.part") != std::string::npos);
  const std::vector<double> weights(5, 1.0);
  gpu::pair_options weighted = tiled.options();
  weighted.column_weights = weights;
  CHECK(refused(weighted, {}).find("options.column_weights") != std::string::npos);
  const auto narrow = random_matrix<double>(6, 2, 1);
  CHECK(refusal_of([&] {
          (void)gpu::max_t(gpu::measure::spearman, narrow);
        }).find("data: got 2 columns") != std::string::npos);
  CHECK(refusal_of([&] {
          (void)gpu::max_t(gpu::measure::spearman, x, narrow);
        }).find("y: got 2 columns") != std::string::npos);
  auto holed = random_matrix<double>(6, 5, 1);
  holed(3, 4) = std::nan("");
  CHECK(refusal_of([&] {
          (void)gpu::max_t(gpu::measure::spearman, x, holed);
        }).find("y: got NaN at row 3, column 4") != std::string::npos);
}

TEST_CASE("Progress is in permutations, and ends the call where it is asked to", "[max_t]") {
  const auto x = random_matrix<float>(200, 12, 1);
  gpu::pair_options options = tiled.options();
  std::uint64_t last = 0;
  bool is_right = true;
  options.exec.on_progress = [&](const gpu::progress& state) {
    is_right &= state.stage == "max_t" && state.total == 300 && state.done >= last;
    last = state.done;
    return gpu::progress_reply::proceed;
  };
  (void)gpu::max_t(gpu::measure::spearman, x, options, {.permutations = 300});
  CHECK(is_right);
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(gpu::max_t(gpu::measure::spearman, x, options), gpu::cancelled);
}
