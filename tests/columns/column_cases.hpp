#pragma once
// The cases of covariates and weights of columns, for any backend.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>
#include <gpu/similarity.hpp>

#include "reference/column_reference.hpp"
#include "support/layout_cases.hpp"
#include "support/pair_cases.hpp"
#include "support/part_cases.hpp"

namespace gpu_test {

/// A measure with covariates and weights of its own.
struct column_job {
  gpu::measure what = gpu::measure::pearson;
  gpu::matrix<double> covariates;  // [0, 0]: none
  std::vector<double> weights;     // empty: none
  gpu::observation_count effective = 0;

  [[nodiscard]] gpu::pair_options options(const pair_target& target) const {
    gpu::pair_options out = target.options();
    out.covariates = covariates.view();
    out.column_weights = weights;
    out.effective_observations = effective;
    return out;
  }
  [[nodiscard]] gpu::observation_count observations(gpu::index_t cols) const {
    const double all = effective > 0 ? effective : gpu::observation_count(cols);
    return all - static_cast<double>(covariates.rows());
  }
  [[nodiscard]] bool has_test() const {
    return what != gpu::measure::cosine && (weights.empty() || effective > 0);
  }
  template <class T>
  [[nodiscard]] statistic_table oracle(gpu::matrix_view<const T> data) const {
    const bool ranks = what == gpu::measure::spearman;
    reference_columns given{.covariates = {},
                            .weights = reference_row(weights.begin(), weights.end()),
                            .fits_constant = what != gpu::measure::cosine};
    if (weights.empty()) given.weights.assign(static_cast<std::size_t>(data.cols()), 1.0L);
    if (covariates.rows() > 0) given.covariates = reference_rows(const_view(covariates), ranks);
    return reference_column_statistics(reference_rows(data, ranks), given);
  }
};

/// Weights of which some are 0.
inline std::vector<double> some_weights(gpu::index_t cols, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0.1, 3.0);
  std::vector<double> out(static_cast<std::size_t>(cols));
  for (double& w : out) w = uniform(engine) < 0.5 ? 0.0 : uniform(engine);
  for (std::size_t k = 0; k < out.size(); k += 2) out[k] = 1.0 + static_cast<double>(k % 3);
  return out;
}

inline column_job partial_job(gpu::measure what, gpu::index_t covariates, gpu::index_t cols) {
  return {.what = what,
          .covariates =
              random_matrix<double>(covariates, cols, static_cast<std::uint64_t>(100 + covariates)),
          .weights = {}};
}

/// Every kind of job that `cols` columns take.
inline std::vector<column_job> some_jobs(gpu::index_t cols) {
  std::vector<column_job> out;
  for (const gpu::index_t q : {gpu::index_t{1}, gpu::index_t{2}, gpu::index_t{7}}) {
    if (cols - q < 3) continue;
    out.push_back(partial_job(gpu::measure::pearson, q, cols));
    out.push_back(partial_job(gpu::measure::spearman, q, cols));
  }
  if (cols < 8) return out;
  const auto weights = some_weights(cols, 5);
  out.push_back({.what = gpu::measure::pearson, .covariates = {}, .weights = weights});
  out.push_back({.what = gpu::measure::cosine, .covariates = {}, .weights = weights});
  out.push_back({.what = gpu::measure::pearson,
                 .covariates = {},
                 .weights = weights,
                 .effective = std::max<gpu::index_t>(cols / 2, 4)});
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::spearman}) {
    out.push_back({.what = what,
                   .covariates = {},
                   .weights = {},
                   .effective = static_cast<double>(cols) - 1.25});
  }
  if (cols < 16) return out;
  column_job both = partial_job(gpu::measure::pearson, 2, cols);
  both.weights = weights;
  both.effective = static_cast<double>(cols) / 2 - 0.3;
  out.push_back(std::move(both));
  return out;
}

#define GPU_TEST_JOB_INFO(job)                                                          \
  INFO(gpu::to_string((job).what) << ", " << (job).covariates.rows() << " covariates, " \
                                  << (job).weights.size() << " weights, "               \
                                  << double{(job).effective} << " effective observations")

inline bool near(double got, double wanted, double most = 1e-13) {
  return std::isnan(wanted) ? std::isnan(got) : std::abs(got - wanted) <= most;
}

template <class T>
void column_statistics_equal_the_oracle(const gpu::matrix<T>& data, const column_job& job,
                                        const pair_target& target) {
  GPU_TEST_JOB_INFO(job);
  INFO(data.rows() << " x " << data.cols());
  const auto wanted = job.oracle(const_view(data));
  const auto got = gpu::all_pairs(job.what, data, job.options(target), gpu::dense_sink{});
  // CUDA may estimate a dense statistic.
  const double most = target.where == gpu::backend::cuda ? 2e-6 : 1e-13;
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = 0; j < data.rows(); ++j) {
      const double want = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      wrong += !near(got(i, j), want, most);
    }
  }
  CHECK(wrong == 0);
  CHECK(got.summary.pairs_tested == reference_pairs(wanted).size());
  CHECK(got.summary.observations ==
        (job.has_test() ? job.observations(data.cols()) : gpu::observation_count()));
}

inline void column_statistics_equal_the_oracle_in_every_shape(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const auto& [rows, cols] : {std::pair<gpu::index_t, gpu::index_t>{5, 4},
                                   {2, 5},
                                   {9, 8},
                                   {17, 10},
                                   {33, 31},
                                   {20, 64},
                                   {40, 65},
                                   {12, 130},
                                   {9, 1025}}) {
    for (const column_job& job : some_jobs(cols)) {
      const auto seed = static_cast<std::uint64_t>(rows * 1000 + cols);
      column_statistics_equal_the_oracle(tied_matrix<std::int32_t>(rows, cols, seed, 0.5), job,
                                         target);
      column_statistics_equal_the_oracle(random_matrix<double>(rows, cols, seed + 1), job, target);
    }
  }
  for (const column_job& job : some_jobs(40)) {
    column_statistics_equal_the_oracle(tied_matrix<std::int8_t>(12, 40, 1), job, target);
    column_statistics_equal_the_oracle(tied_matrix<std::uint16_t>(12, 40, 2), job, target);
    column_statistics_equal_the_oracle(random_matrix<float>(12, 40, 3), job, target);
  }
}

/// Numbers of numpy: the inverse of the matrix of correlations (of ranks by scipy.stats.rankdata),
/// np.cov(aweights=), np.linalg.lstsq; p of scipy.stats.t.
struct known_columns {
  std::array<double, 40> x{2.1, 3.4, 1.2, 5.6, 4.4, 7.1,  6.0, 8.3, 2.2, 9.0, 1.0, 2.5, 2.0, 4.1,
                           3.9, 6.6, 7.2, 7.0, 1.1, 10.5, 9.0, 7.5, 8.8, 5.0, 6.1, 3.3, 2.0, 2.2,
                           8.1, 0.5, 0.3, 0.1, 0.9, 0.4,  0.2, 0.8, 0.3, 0.6, 0.7, 0.5};
  std::array<double, 20> z{20, 35, 28, 50, 66, 41, 58, 70, 25, 62, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0};
  std::vector<double> weights{1, 2, 0.5, 1, 3, 1, 0, 2, 1, 1.5};
};

inline void column_statistics_equal_numpy(const pair_target& target) {
  GPU_TEST_INFO(target);
  const known_columns known;
  const gpu::matrix_view<const double> data(known.x.data(), 4, 10);
  const auto check = [&](gpu::measure what, const gpu::pair_options& options,
                         const std::vector<std::pair<double, double>>& wanted) {
    const auto got = gpu::all_pairs(what, data, options, gpu::edge_sink{}).edges;
    REQUIRE(got.size() == wanted.size());
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      CHECK(near(got[e].statistic, wanted[e].first));
      CHECK((near(got[e].p, wanted[e].second, 1e-12 * std::abs(wanted[e].second))));
    }
  };
  gpu::pair_options options = target.options();
  options.covariates = {known.z.data(), 1, 10};
  check(gpu::measure::pearson, options,
        {{0.8463652377961103, 0.004013593869171323},
         {-0.8958027998760029, 0.0010844194778101826},
         {0.30928146113960575, 0.4180238679326884},
         {-0.9426427732013158, 0.00014064536426553284},
         {0.3624478278462787, 0.3377569745950351},
         {-0.3419220862511195, 0.3677846525951597}});
  check(gpu::measure::spearman, options,
        {{0.8050690033019628, 0.008847342553621894},
         {-0.872613068841885, 0.002140053201211621},
         {0.24817403461508605, 0.5196589603199868},
         {-0.9668815077248405, 2.1072532096064168e-05},
         {0.25785856684242764, 0.5029376172291199},
         {-0.2071421956631005, 0.5928123316699119}});
  options.covariates = {known.z.data(), 2, 10};
  check(gpu::measure::pearson, options,
        {{0.8462505767369389, 0.00807063623861903},
         {-0.9304052362719244, 0.0007993205463081117},
         {0.34010448294205714, 0.40977295379377804},
         {-0.9513976726549725, 0.0002766587121352582},
         {0.3764178308192461, 0.3580511657607279},
         {-0.3441529795228042, 0.40385509976983336}});
  check(gpu::measure::spearman, options,
        {{0.8477962935223117, 0.007839254909213549},
         {-0.9128845526481341, 0.0015467117645506846},
         {0.2840495241001762, 0.4953615756267147},
         {-0.9669456789370404, 8.806341587337477e-05},
         {0.254403560944135, 0.5431753239710556},
         {-0.20480390121208497, 0.6265955962290383}});
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  options.column_weights = known.weights;
  check(gpu::measure::pearson, options,
        {{0.9191564736325719, none},
         {-0.9840112263322187, none},
         {0.6189099752187104, none},
         {-0.9672175147326102, none},
         {0.6099600696276491, none},
         {-0.6641103914457002, none}});
  options.covariates = {};
  check(gpu::measure::pearson, options,
        {{0.9560852852974229, none},
         {-0.9915862374042841, none},
         {0.3226736655582784, none},
         {-0.9796110730062056, none},
         {0.3268592725127839, none},
         {-0.36901683635732707, none}});
  check(gpu::measure::cosine, options,
        {{0.984010534487566, none},
         {0.6045605877238582, none},
         {0.8486258360429886, none},
         {0.5164017942355913, none},
         {0.8201449990306502, none},
         {0.6780305639174385, none}});
}

/// The same bits from every compiler, level of the processor and backend.
inline void column_statistics_have_known_bits(const pair_target& target) {
  GPU_TEST_INFO(target);
  const known_columns known;
  const gpu::matrix_view<const double> data(known.x.data(), 4, 10);
  gpu::pair_options options = target.options();
  options.covariates = {known.z.data(), 2, 10};
  const auto checksum = [&](gpu::measure what) {
    return gpu::to_string(gpu::all_pairs(what, data, options, gpu::edge_sink{}).summary.checksum);
  };
  CHECK(checksum(gpu::measure::pearson) == "6:90ca9c3df4207cb2:0c226024ba0e55a9");
  CHECK(checksum(gpu::measure::spearman) == "6:df56f65c1e22993e:3a1ae26ca1a2099e");
  options.column_weights = known.weights;
  CHECK(checksum(gpu::measure::pearson) == "6:d9ed514a4f8c3446:24227856d8b1ced8");
}

/// The recursion r_ij.z = (r_ij - r_iz r_jz) / sqrt((1 - r_iz^2)(1 - r_jz^2)) of the library's own
/// correlations, applied once and twice.
inline void partial_correlation_is_the_recursion(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::spearman}) {
    constexpr gpu::index_t rows = 30;
    constexpr gpu::index_t cols = 25;
    const auto values = random_matrix<double>(rows + 2, cols, 9);
    const auto plain = gpu::all_pairs(what, values, target.options(), gpu::dense_sink{});
    const auto first = [&](gpu::index_t i, gpu::index_t j) {  // given row 30
      return (plain(i, j) - plain(i, rows) * plain(j, rows)) /
             std::sqrt((1 - plain(i, rows) * plain(i, rows)) *
                       (1 - plain(j, rows) * plain(j, rows)));
    };
    const gpu::matrix_view<const double> data(values.data(), rows, cols);
    gpu::pair_options options = target.options();
    options.covariates = {values.data() + rows * cols, 1, cols};
    const auto one = gpu::all_pairs(what, data, options, gpu::edge_sink{}).edges;
    options.covariates = {values.data() + rows * cols, 2, cols};
    const auto two = gpu::all_pairs(what, data, options, gpu::edge_sink{}).edges;
    REQUIRE(one.size() == rows * (rows - 1) / 2);
    REQUIRE(two.size() == one.size());
    const double most = target.where == gpu::backend::cuda ? 2e-5 : 1e-12;
    gpu::index_t wrong = 0;
    for (std::size_t e = 0; e < one.size(); ++e) {
      const gpu::index_t i = one[e].row;
      const gpu::index_t j = one[e].col;
      const double iz = first(i, rows + 1);
      const double jz = first(j, rows + 1);
      wrong += !near(one[e].statistic, first(i, j), most);
      wrong += !near(two[e].statistic,
                     (first(i, j) - iz * jz) / std::sqrt((1 - iz * iz) * (1 - jz * jz)), most);
    }
    CHECK(wrong == 0);
  }
}

/// Every sink against the filtered oracle, with cuts on p of m - 2 - q degrees.
inline void column_sinks_equal_the_oracle(const pair_target& target) {
  GPU_TEST_INFO(target);
  constexpr gpu::index_t rows = 90;
  constexpr gpu::index_t cols = 21;
  const auto data = random_matrix<double>(rows, cols, 31);
  for (const column_job& job : some_jobs(cols)) {
    GPU_TEST_JOB_INFO(job);
    const auto table = job.oracle(const_view(data));
    const gpu::observation_count observations = job.observations(cols);
    for (gpu::pair_filter keep : some_filters()) {
      if (!job.has_test()) keep.max_p = 1;
      const bool has_p = job.has_test();
      std::vector<reference_pair> wanted;
      for (const reference_pair& pair : reference_pairs(table)) {
        const double key = reference_key(pair.statistic, keep.side);
        if (keep.min_abs > 0 && key < keep.min_abs) continue;
        if (has_p && reference_p(pair.statistic, observations, keep.side) > keep.max_p) continue;
        wanted.push_back(pair);
      }
      const auto got =
          gpu::all_pairs(job.what, data, job.options(target), gpu::edge_sink{.keep = keep});
      REQUIRE(got.edges.size() == wanted.size());
      gpu::index_t wrong = 0;
      for (std::size_t e = 0; e < wanted.size(); ++e) {
        const gpu::edge& own = got.edges[e];
        wrong += own.row != wanted[e].row || own.col != wanted[e].col;
        wrong += !near(own.statistic, wanted[e].statistic);
        wrong += has_p ? own.p != gpu::correlation_p_value(own.statistic, observations, keep.side)
                       : !std::isnan(own.p);
      }
      CHECK(wrong == 0);
      const auto counts =
          gpu::all_pairs(job.what, data, job.options(target), gpu::count_sink{.keep = keep});
      CHECK(counts.kept == wanted.size());
      const auto partners =
          gpu::all_pairs(job.what, data, job.options(target), gpu::top_k_sink{.k = 4});
      for (gpu::index_t i = 0; i < rows; ++i) {
        const auto best = best_partners(table, static_cast<std::size_t>(i), observations, {.k = 4});
        REQUIRE(partners.count[static_cast<std::size_t>(i)] == best.size());
        for (std::size_t e = 0; e < best.size(); ++e) {
          CHECK(partners.index(i, static_cast<gpu::index_t>(e)) == best[e].second);
        }
      }
    }
  }
}

/// Bonferroni, and Benjamini and Hochberg, against all sorted p.
inline void column_adjustments_equal_the_textbook(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = area_rows<double>(120, 24, 41);
  for (const column_job& job : some_jobs(24)) {
    if (!job.has_test()) continue;
    GPU_TEST_JOB_INFO(job);
    std::vector<double> p;
    for (const gpu::edge& e :
         gpu::all_pairs(job.what, data, job.options(target), gpu::edge_sink{}).edges) {
      p.push_back(
          gpu::correlation_p_value(e.statistic, job.observations(24), gpu::tail::two_sided));
    }
    const auto kept = [&](gpu::adjustment adjust) {
      return gpu::all_pairs(job.what, data, job.options(target),
                            gpu::edge_sink{.keep = {.max_p = 0.5, .adjust = adjust}})
          .edges.size();
    };
    const auto within = [&](double most) {
      return static_cast<std::size_t>(
          std::count_if(p.begin(), p.end(), [most](double each) { return each <= most; }));
    };
    CHECK(kept(gpu::adjustment::bonferroni) == within(0.5 / static_cast<double>(p.size())));
    CHECK(kept(gpu::adjustment::benjamini_hochberg) ==
          within(reference_benjamini_hochberg(p, 0.5)));
    CHECK(within(reference_benjamini_hochberg(p, 0.5)) > 0);
  }
}

}  // namespace gpu_test
