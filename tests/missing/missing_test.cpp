#include <string>

#include <gpu/observations.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "missing/missing_cases.hpp"
#include "support/cpu_level.hpp"
#include "support/same_or_nan.hpp"
#include "support/scoped_variable.hpp"
#include "support/sink_bytes.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};
using shape_list = std::vector<std::pair<gpu::index_t, gpu::index_t>>;
// The oracle takes most of the time; at each level random jobs (pair_ways_test) and golden ones
// meet more.
const shape_list shapes = gpu_test::at_named_level()
                              ? shape_list{{40, 30}}
                              : shape_list{{2, 3}, {9, 5}, {40, 30}, {33, 100}, {21, 257}};

struct mask_shape {
  gpu::index_t rows;
  gpu::index_t cols;
  gpu::index_t masks;
};

/// Row i has mask i mod masks. Of several masks, 0 misses nothing, and 1 and 2 share two columns. A
/// few rows are constant on what they share with some masks, or far from zero.
gpu::matrix<double> rows_of_masks(gpu::index_t rows, gpu::index_t cols, gpu::index_t masks,
                                  bool is_tied, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::mt19937_64 mask(seed + 1000 + static_cast<std::uint64_t>(i % masks));
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double common = static_cast<double>(i % 3 - 1) * std::sin(static_cast<double>(k));
      const double value = unit() + unit() + unit() - 1.5 + common;
      out(i, k) = is_tied ? std::floor(2 * value) : value;
      if (i == 4) out(i, k) = k < cols / 2 ? 2.5 : out(i, k);
      if (i == 6) out(i, k) += 1e9;
      if (i == 7) out(i, k) = k == 1 ? 1e12 : 1.0;
      const bool is_missing = i % masks == 1   ? k >= cols / 2 + 1
                              : i % masks == 2 ? k < cols / 2 - 1
                                               : (mask() & 7U) == 0;
      if (is_missing && (i % masks != 0 || masks == 1)) out(i, k) = gpu_test::missing;
    }
  }
  return out;
}

/// `data`, and behind it so many rows each of which misses other columns.
gpu::matrix<double> with_other_masks(const gpu::matrix<double>& data, gpu::index_t count) {
  std::mt19937_64 random(99);
  gpu::matrix<double> out(data.rows() + count, data.cols());
  std::copy_n(data.row(0).data(), data.rows() * data.cols(), out.row(0).data());
  for (gpu::index_t i = data.rows(); i < out.rows(); ++i) {
    for (gpu::index_t k = 0; k < out.cols(); ++k) {
      const auto drawn = static_cast<double>(random() % 1000);
      out(i, k) = random() % 10 == 0 ? gpu_test::missing : drawn;
    }
  }
  return out;
}

bool is_by_masks(gpu::measure what, const gpu::matrix<double>& data,
                 const gpu::pair_options& options) {
  const gpu::edge_sink sink{.keep = {.min_abs = 0.5}};
  const std::string choice = gpu::plan_all_pairs(what, data.view(), options, sink).choice;
  return choice.find(" masks") != std::string::npos;
}

}  // namespace

TEST_CASE("Spearman over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_spearman, shapes);
  gpu_test::run_missing_cases(naive, gpu_test::missing_spearman, {{40, 30}});
}

TEST_CASE("Pearson over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_pearson, shapes);
}

TEST_CASE("Cosine over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_cosine, shapes);
}

TEST_CASE("Bicor over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_bicor, shapes);
  gpu_test::run_missing_cases(naive, gpu_test::missing_bicor, {{9, 5}, {40, 30}});
}

// The columns that a pair shares, as a table of their own, give the same bits.
TEST_CASE("Bicor over shared columns has the bits of complete rows", "[missing]") {
  for (const gpu_test::holes kind : {gpu_test::holes::scattered, gpu_test::holes::many,
                                     gpu_test::holes::masks, gpu_test::holes::tied}) {
    for (const auto& [rows, cols] :
         std::vector<std::pair<gpu::index_t, gpu::index_t>>{{50, 31}, {30, 100}, {12, 700}}) {
      const auto data = gpu_test::rows_with_holes(rows, cols, kind, 21);
      const auto got =
          gpu::bicor_all_pairs(data.view(), gpu_test::pairwise_options(tiled), gpu::dense_sink{});
      gpu::index_t wrong = 0;
      for (gpu::index_t i = 0; i < rows; ++i) {
        for (gpu::index_t j = i + 1; j < rows; ++j) {
          std::vector<double> both[2];
          for (gpu::index_t k = 0; k < cols; ++k) {
            if (data(i, k) != data(i, k) || data(j, k) != data(j, k)) continue;
            both[0].push_back(data(i, k));
            both[1].push_back(data(j, k));
          }
          const auto shared = static_cast<gpu::index_t>(both[0].size());
          double wanted = gpu_test::missing;
          if (shared >= 3) {
            both[0].insert(both[0].end(), both[1].begin(), both[1].end());
            wanted = gpu::bicor_all_pairs(gpu::as_matrix(both[0], 2, shared), tiled.options(),
                                          gpu::dense_sink{})(0, 1);
          }
          wrong +=
              !gpu_test::same_bits(got(i, j), wanted) || !gpu_test::same_bits(got(j, i), wanted);
        }
      }
      INFO(rows << " x " << cols << ", holes " << static_cast<int>(kind));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("Kendall over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_kendall, shapes);
  gpu_test::run_missing_cases(naive, gpu_test::missing_kendall, {{9, 5}, {40, 30}, {33, 100}});
}

TEST_CASE("Kendall of long rows over shared columns", "[missing]") {
  // Signs with vectors of bit counts, a sort of shared columns without.
  gpu_test::run_missing_cases(tiled, gpu_test::missing_kendall, {{4, 700}, {3, 2100}});
}

// Ties that only some partners see, and a row that is constant on what some share.
TEST_CASE("Kendall of ties that a partner misses", "[missing]") {
  constexpr double no = gpu_test::missing;
  const std::vector<double> values{1,  1,  2,  3,  3,  4,  5, 6,  //
                                   1,  no, 5,  2,  no, 7,  3, 9,  //
                                   no, 4,  no, 4,  4,  no, 4, 1,  //
                                   2,  3,  no, no, 4,  1,  5, no};
  const auto data = gpu::as_matrix(values, 4, 8);
  gpu::matrix<double> copy(4, 8);
  std::copy(values.begin(), values.end(), copy.row(0).data());
  for (const pair_target& target : {tiled, naive}) {
    gpu_test::missing_equals_the_oracle(target, gpu_test::missing_kendall, copy, 0, 3);
    gpu_test::missing_equals_the_oracle(target, gpu_test::missing_kendall, copy, 2, 4);
  }
  // Rows 0 and 1 share six columns without ties, where scipy.stats.kendalltau gives 0.6 and
  // 98/720: three of fifteen pairs of columns are discordant.
  const auto got =
      gpu::kendall_all_pairs(data, gpu_test::pairwise_options(tiled), gpu::edge_sink{});
  REQUIRE(!got.edges.empty());
  CHECK(got.edges[0].col == 1);
  CHECK(got.edges[0].statistic == 0.6);
  CHECK(got.edges[0].p == Approx(98.0 / 720).epsilon(1e-14));
  // Row 2 is 4 wherever row 3 has a value.
  CHECK(std::none_of(got.edges.begin(), got.edges.end(),
                     [](const gpu::edge& e) { return e.row == 2 && e.col == 3; }));
}

namespace {

gpu::pair_options pairwise_on(gpu::backend where) {
  gpu::pair_options out = gpu_test::pairwise_options(tiled);
  out.exec.target = where;
  return out;
}

// CUDA refuses the call with this reason, and automatic runs it on the CPU, whose plan names it.
void only_the_cpu_has(gpu::measure what, const gpu::matrix<double>& data,
                      const std::string& reason) {
  const auto automatic = pairwise_on(gpu::backend::automatic);
  CHECK(gpu::all_pairs(what, data.view(), automatic, gpu::count_sink{}).summary.used ==
        gpu::backend::cpu);
  const auto plan = gpu::plan_all_pairs(what, data.view(), automatic, gpu::edge_sink{});
  CHECK(plan.used == gpu::backend::cpu);
  CHECK(plan.choice.starts_with("on the CPU, as " + reason + ": every pair is decided"));
  CHECK(gpu::plan_all_pairs(what, data.view(), pairwise_on(gpu::backend::cpu), gpu::edge_sink{})
            .choice.starts_with("every pair is decided"));
  CHECK_THROWS_MATCHES(
      gpu::all_pairs(what, data.view(), pairwise_on(gpu::backend::cuda), gpu::count_sink{}),
      gpu::unsupported,
      Catch::Matchers::Message("execution.target: got cuda with nan_policy::pairwise, but " +
                               reason + "; expected automatic or cpu"));
  const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "cuda");
  CHECK_THROWS_MATCHES(
      gpu::all_pairs(what, data.view(), automatic, gpu::count_sink{}), gpu::unsupported,
      Catch::Matchers::Message("GPU_SIMILARITY_BACKEND: got cuda with nan_policy::pairwise, but " +
                               reason + "; expected automatic or cpu"));
}

}  // namespace

TEST_CASE("Only the CPU has bicor, Kendall and long rows of ranks with missing values",
          "[missing]") {
  const auto data = gpu_test::rows_with_holes(12, 20, gpu_test::holes::scattered, 3);
  only_the_cpu_has(gpu::measure::bicor, data,
                   "CUDA does not have Bicor with missing values pair by pair");
  only_the_cpu_has(gpu::measure::kendall, data,
                   "CUDA does not have Kendall with missing values pair by pair");
  only_the_cpu_has(gpu::measure::spearman,
                   gpu_test::rows_with_holes(2, 65'535, gpu_test::holes::scattered, 3),
                   "CUDA takes at most 65534 columns of Spearman with missing values pair by pair, "
                   "got 65535");
  // The other measures, and tables that miss nothing, run on either.
  const auto used = [](gpu::measure what, const gpu::matrix<double>& table) {
    return gpu::all_pairs(what, table.view(), pairwise_on(gpu::backend::automatic),
                          gpu::count_sink{})
        .summary.used;
  };
  const auto whole = gpu_test::random_matrix<double>(12, 20, 6);
  const auto check_all = [&](gpu::backend best) {
    CHECK(used(gpu::measure::spearman, data) == best);
    CHECK(used(gpu::measure::pearson, data) == best);
    CHECK(used(gpu::measure::cosine, data) == best);
    CHECK(used(gpu::measure::bicor, whole) == best);
    CHECK(used(gpu::measure::kendall, whole) == best);
  };
  check_all(gpu::backend::cpu);  // which ends such small jobs first
  if (!gpu::available_backends()[1].usable) return;
  const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "cuda");
  check_all(gpu::backend::cuda);
}

// Few masks: what a row is over the columns of each mask is computed once for all its partners.
TEST_CASE("Rows of few masks", "[missing]") {
  for (const auto& measure : {gpu_test::missing_spearman, gpu_test::missing_pearson,
                              gpu_test::missing_cosine, gpu_test::missing_bicor}) {
    std::uint64_t seed = 40;
    // Ranks in bytes, whose last column count is 128, and in 16 bits.
    for (const auto& [rows, cols, masks] :
         {mask_shape{9, 20, 1}, mask_shape{17, 9, 2}, mask_shape{48, 31, 5}, mask_shape{40, 128, 3},
          mask_shape{18, 129, 2}, mask_shape{88, 24, 11}}) {
      // The oracle of bicor sorts every pair.
      if (measure.what == gpu::measure::bicor && rows > 20) continue;
      for (const bool is_tied : {false, true}) {
        INFO(rows << " x " << cols << ", " << masks << " masks, tied " << is_tied);
        const auto data = rows_of_masks(rows, cols, masks, is_tied, ++seed);
        if (rows < 80) {
          gpu_test::missing_equals_the_oracle(tiled, measure, data, 0, 3);
          gpu_test::missing_equals_the_oracle(tiled, measure, data, rows / 3, 3);
        } else {
          gpu_test::missing_equals_the_oracle(tiled, measure, data, 0, cols / 2);
        }
      }
    }
  }
}

// The same rows beside others that miss something else each are decided pair by pair.
TEST_CASE("Few masks and many give the same bits", "[missing]") {
  for (const gpu::measure what :
       {gpu::measure::spearman, gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor}) {
    for (const auto& [rows, cols, masks] :
         {mask_shape{300, 100, 20}, mask_shape{300, 200, 7}, mask_shape{500, 40, 60},
          mask_shape{130, 1860, 3}, mask_shape{130, 1861, 3}}) {
      for (const bool is_tied : {false, true}) {
        INFO(rows << " x " << cols << ", " << masks << " masks, tied " << is_tied);
        const auto data = rows_of_masks(rows, cols, masks, is_tied, 7);
        const auto more = with_other_masks(data, rows / 8 + 2);
        const gpu::pair_options options = gpu_test::pairwise_options(tiled, 5);
        const bool has_masks = what != gpu::measure::spearman || cols <= 1860;
        CHECK(is_by_masks(what, data, options) == has_masks);
        CHECK(!is_by_masks(what, more, options));

        const auto got = gpu::all_pairs(what, data.view(), options, gpu::dense_sink{});
        const auto wanted = gpu::all_pairs(what, more.view(), options, gpu::dense_sink{});
        gpu::index_t wrong = 0;
        for (gpu::index_t i = 0; i < rows; ++i) {
          for (gpu::index_t j = 0; j < rows; ++j) {
            wrong += !gpu_test::same_bits(got(i, j), wanted(i, j));
          }
        }
        CHECK(wrong == 0);

        for (const auto order :
             {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
          for (const double min_abs : {0.0, 0.3}) {
            const gpu::top_k_sink sink{.k = 7, .keep = {.min_abs = min_abs}, .order = order};
            const auto partners = gpu::all_pairs(what, data.view(), options, sink);
            gpu::index_t wrong_rows = 0;
            for (gpu::index_t i = 0; i < rows; ++i) {
              const auto best = gpu_test::best_partners(
                  sink, rows, [&](gpu::index_t j) { return wanted(i, j); },
                  [&](gpu::index_t j) { return j != i && std::abs(wanted(i, j)) >= min_abs; });
              wrong_rows += !gpu_test::has_partners(partners, i, best);
            }
            CHECK(wrong_rows == 0);
          }
        }

        // A cut that some statistic meets exactly, so that it decides in the last bit.
        const double cut = std::abs(got(1, 5));
        for (const double min_abs : {cut, std::nextafter(cut, 2.0), 0.0}) {
          if (!(min_abs >= 0)) continue;
          const gpu::edge_sink sink{.keep = {.min_abs = min_abs}};
          const auto edges = gpu::all_pairs(what, data.view(), options, sink);
          std::vector<gpu::edge> kept;
          for (gpu::index_t i = 0; i < rows; ++i) {
            for (gpu::index_t j = i + 1; j < rows; ++j) {
              const double r = wanted(i, j);
              if (!(std::abs(r) >= min_abs)) continue;
              kept.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), r, 0});
            }
          }
          CHECK(std::equal(kept.begin(), kept.end(), edges.edges.begin(), edges.edges.end(),
                           [](const gpu::edge& a, const gpu::edge& b) {
                             return a.row == b.row && a.col == b.col &&
                                    gpu_test::same_bits(a.statistic, b.statistic);
                           }));
        }
      }
    }
  }
}

TEST_CASE("Long rows over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_spearman, {{4, 4200}});
  gpu_test::run_missing_cases(tiled, gpu_test::missing_pearson, {{10, 700}});
}

// A row has no value more than a pair has to share, all others are complete.
TEST_CASE("Rows of just as many values as a pair has to share", "[missing]") {
  for (const auto& measure :
       {gpu_test::missing_spearman, gpu_test::missing_pearson, gpu_test::missing_kendall}) {
    auto data = gpu_test::random_matrix<double>(12, 20, 6);
    for (gpu::index_t k = 0; k < 10; ++k) data(7, 2 * k) = gpu_test::missing;
    gpu_test::missing_equals_the_oracle(tiled, measure, data, 0, 10);
    gpu_test::missing_equals_the_oracle(tiled, measure, data, 5, 10);
  }
}

// Differences of a few last bits: sums of squares say nothing of them, nor does one mean.
TEST_CASE("Values that differ in their last bits", "[missing]") {
  constexpr gpu::index_t shared = 7;
  const std::vector<double> steps{0, 5, 1, 3, 11, 2, 7, 4, 0, 9, 2, 13, 6, 1};
  gpu::matrix<double> plain(2, shared);
  gpu::matrix<double> near(2, shared + 2);
  for (gpu::index_t i = 0; i < 2; ++i) {
    for (gpu::index_t k = 0; k < shared; ++k) {
      plain(i, k) = steps[static_cast<std::size_t>(i * shared + k)];
      near(i, k) = 1 + plain(i, k) * 0x1p-52;
    }
    near(i, shared + i) = 3;
    near(i, shared + 1 - i) = gpu_test::missing;
  }
  const double wanted = gpu_test::reference_pearson(gpu_test::const_view(plain))[0][1];
  // Of just as many columns as are asked for, and of one more.
  for (const gpu::index_t least : {shared, shared - 1}) {
    const auto got = gpu::all_pairs(gpu::measure::pearson, near.view(),
                                    gpu_test::pairwise_options(tiled, least), gpu::dense_sink{});
    CHECK(std::abs(got(0, 1) - wanted) <= 3e-12);
  }
}

// What two rows share is far smaller than what one of them has besides: its squares underflow.
TEST_CASE("Shared values whose squares underflow", "[missing]") {
  gpu::matrix<double> plain(3, 6);
  gpu::matrix<double> data(3, 7);
  for (gpu::index_t i = 0; i < 3; ++i) {
    for (gpu::index_t k = 0; k < 6; ++k) {
      plain(i, k) = std::sin(static_cast<double>(1 + 5 * k + 7 * i));
      data(i, k) = plain(i, k) * (i == 1 ? 1.0 : 0x1p-530);
    }
    data(i, 6) = i == 1 ? gpu_test::missing : 1.0;
  }
  const auto wanted = gpu_test::reference_cosine(gpu_test::const_view(plain));
  const auto got = gpu::all_pairs(gpu::measure::cosine, data.view(),
                                  gpu_test::pairwise_options(tiled), gpu::dense_sink{});
  // Either may be the row of small values.
  CHECK(std::abs(got(0, 1) - wanted[0][1]) <= 3e-12);
  CHECK(std::abs(got(1, 2) - wanted[1][2]) <= 3e-12);
}

TEST_CASE("A table without missing values is computed as ever", "[missing]") {
  const auto data = gpu_test::random_matrix<double>(40, 30, 4);
  gpu::pair_options options = gpu_test::pairwise_options(tiled);
  const auto got = gpu::all_pairs(gpu::measure::pearson, data.view(), options, gpu::edge_sink{});
  options.nans = gpu::nan_policy::reject;
  const auto wanted = gpu::all_pairs(gpu::measure::pearson, data.view(), options, gpu::edge_sink{});
  CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.edges.begin(), wanted.edges.end()));
}

TEST_CASE("Observations of pairs", "[missing]") {
  constexpr double no = gpu_test::missing;
  const std::vector<double> values{1, 2, no, 4, no, 2, 3, 4, 1, 2, 3, no};
  const auto data = gpu::as_matrix(values, 3, 4);
  const auto all = gpu::shared_observations(data);
  CHECK(all(0, 0) == 3);
  CHECK(all(0, 1) == 2);
  CHECK(all(2, 1) == 2);
  const std::vector<gpu::edge> edges{{1, 2, 0, 0}, {0, 2, 0, 0}};
  CHECK(gpu::shared_observations(data, edges) == std::vector<gpu::node_id>{2, 2});
  const std::vector<gpu::edge> beyond{{1, 3, 0, 0}};
  CHECK_THROWS_AS(gpu::shared_observations(data, beyond), gpu::invalid_argument);
  const auto against =
      gpu::shared_observations(data, gpu::as_matrix(std::span(values).first(8), 2, 4));
  CHECK(against(2, 1) == 2);
  // Columns of edges count from the first row of y.
  const auto others = gpu::as_matrix(std::span(values).last(8), 2, 4);
  const std::vector<gpu::edge> across{{0, 0, 0, 0}, {2, 1, 0, 0}};
  CHECK(gpu::shared_observations(data, others, across) == std::vector<gpu::node_id>{2, 3});
}

TEST_CASE("p of Kendall of some pairs of rows with missing values", "[missing]") {
  constexpr double no = gpu_test::missing;
  const std::vector<double> values{1, 2, no, 4, no, 2, 3, 4, 1, 2, 3, no, 1, 2, 3, 4};
  const auto data = gpu::as_matrix(values, 4, 4);
  // Two columns, a statistic that is none, and three columns in one order: 2 of 6 orders.
  const std::vector<gpu::edge> edges{{0, 1, 1.0, 0}, {2, 3, no, 0}, {2, 3, 1.0, 0}};
  const auto p = gpu::shared_kendall_p(data, edges);
  CHECK(std::isnan(p[0]));
  CHECK(std::isnan(p[1]));
  CHECK(p[2] == Approx(1.0 / 3).epsilon(1e-15));
  const std::vector<gpu::edge> beyond{{1, 4, 0, 0}};
  CHECK_THROWS_AS(gpu::shared_kendall_p(data, beyond), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::shared_kendall_p(data, edges, static_cast<gpu::tail>(7)),
                  gpu::invalid_argument);
}

TEST_CASE("What missing values pair by pair do not go with", "[missing]") {
  const auto data = gpu_test::rows_with_holes(20, 12, gpu_test::holes::scattered, 3);
  const gpu::pair_options options = gpu_test::pairwise_options(tiled);
  const auto refuses = [&](gpu::pair_options how, const gpu::pair_filter& keep) {
    CHECK_THROWS_AS(
        gpu::all_pairs(gpu::measure::spearman, data.view(), how, gpu::edge_sink{.keep = keep}),
        gpu::unsupported);
  };
  gpu::pair_options part = options;
  part.part = {.index = 0, .of = 2};
  refuses(part, {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni});
  gpu::pair_options folded = options;
  folded.fold = gpu::row_folding::always;
  refuses(folded, {});
  CHECK_THROWS_AS(gpu::prepare_rows(gpu::measure::spearman, data.view(), options),
                  gpu::unsupported);
  gpu::pair_options few = options;
  few.min_observations = 2;
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure::spearman, data.view(), few), gpu::invalid_argument);
  // A setting that would change nothing is refused.
  gpu::pair_options ignored;
  ignored.min_observations = 5;
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure::spearman, data.view(), ignored),
                  gpu::invalid_argument);
}

TEST_CASE("Complete rows of too few columns have no statistic", "[missing]") {
  const auto data = gpu_test::random_matrix<float>(40, 6, 3);
  for (const gpu::measure what : gpu::all_measures()) {
    for (const gpu::index_t least : {6, 7}) {
      gpu::pair_options options{.nans = gpu::nan_policy::pairwise, .min_observations = least};
      options.exec.target = gpu::backend::cpu;
      const auto edges = gpu::all_pairs(what, data.view(), options, gpu::edge_sink{});
      CHECK(edges.edges.size() == (least == 6 ? 780U : 0U));
      CHECK(edges.summary.pairs_tested == (least == 6 ? 780U : 0U));
      CHECK(std::isnan(gpu::all_pairs(what, data.view(), options)(0, 1)) == (least == 7));
    }
  }
}
