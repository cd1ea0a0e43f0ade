// What a change of the input must do to the result of all pairs, on random jobs. Spearman's
// statistics come of integers, so there every comparison is to the bit; Pearson's to rounding.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metamorphic/trial.hpp"
#include "support/same_or_nan.hpp"

namespace {

using gpu_test::edges_of;
using gpu_test::mapped;
using gpu_test::measure;
using gpu_test::random_trial;
using gpu_test::trial;

constexpr std::uint64_t trials = 200;

/// Every row's statistics of its best partners. Of equal magnitudes the partner's number decides,
/// so partners and signs may differ.
gpu::matrix<double> best_statistics(const trial& job, const gpu::matrix<std::int32_t>& data) {
  return gpu_test::run(measure::spearman, data, job.options,
                       gpu::top_k_sink{.k = 5, .keep = job.keep})
      .statistic.clone();
}

}  // namespace

TEST_CASE("Permuted rows give permuted results in every sink", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial job = random_trial(seed);
    GPU_TEST_TRIAL_INFO(job);
    const auto order = gpu_test::random_order(job.data.rows(), seed);
    const auto moved = gpu_test::with_rows(job.data, order);
    const auto edges = edges_of(measure::spearman, job.data, job);
    CHECK(gpu_test::named_by(edges_of(measure::spearman, moved, job), order) == edges);
    CHECK(gpu_test::are_close(gpu_test::named_by(edges_of(measure::pearson, moved, job), order),
                              edges_of(measure::pearson, job.data, job)));

    const gpu::count_sink counting{.keep = job.keep, .histogram_bins = 16};
    const auto counts = gpu_test::run(measure::spearman, job.data, job.options, counting);
    const auto moved_counts = gpu_test::run(measure::spearman, moved, job.options, counting);
    CHECK(counts.kept == edges.size());
    CHECK(moved_counts.kept == counts.kept);
    CHECK(moved_counts.tested == counts.tested);
    CHECK(moved_counts.histogram == counts.histogram);

    const auto best = best_statistics(job, job.data);
    const auto moved_best = best_statistics(job, moved);
    const auto dense = gpu_test::run(measure::spearman, job.data, job.options, gpu::dense_sink{});
    const auto moved_dense =
        gpu_test::run(measure::spearman, moved, job.options, gpu::dense_sink{});
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < job.data.rows(); ++i) {
      const gpu::index_t from = order[static_cast<std::size_t>(i)];
      wrong += moved_counts.degree[static_cast<std::size_t>(i)] !=
               counts.degree[static_cast<std::size_t>(from)];
      for (gpu::index_t k = 0; k < best.cols(); ++k) {
        wrong += !gpu_test::same_or_nan(std::abs(moved_best(i, k)), std::abs(best(from, k)));
      }
      for (gpu::index_t j = 0; j < job.data.rows(); ++j) {
        wrong += !gpu_test::same_or_nan(moved_dense(i, j),
                                        dense(from, order[static_cast<std::size_t>(j)]));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Monotone changes and other element types change nothing of Spearman", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial job = random_trial(seed);
    GPU_TEST_TRIAL_INFO(job);
    const auto edges = edges_of(measure::spearman, job.data, job);
    const auto check = [&](const auto& changed) {
      CHECK(edges_of(measure::spearman, changed, job) == edges);
    };
    check(mapped<std::int8_t>(job.data, [](int x) { return x - 50; }));
    check(mapped<std::uint8_t>(job.data, [](int x) { return 2 * x + 55; }));
    check(mapped<std::int16_t>(job.data, [](int x) { return x * x - 5000; }));
    check(mapped<std::uint16_t>(job.data, [](int x) { return 650 * x; }));
    check(mapped<std::int32_t>(job.data, [](int x) { return x * x * x + 2 * x - 400000; }));
    check(mapped<float>(job.data, [](int x) { return std::sqrt(static_cast<float>(x)) - 3; }));
    check(mapped<double>(job.data, [](int x) { return std::exp(x / 10.0); }));
    check(mapped<double>(job.data, [](int x) { return x == 100 ? HUGE_VAL : x * 1e-310; }));
  }
}

TEST_CASE("Scaled rows change nothing of Pearson", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    trial job = random_trial(seed);
    // Benjamini and Hochberg cut at a p that occurs: rounding may part pairs of equal p there.
    if (job.keep.adjust == gpu::adjustment::benjamini_hochberg) {
      job.keep.adjust = gpu::adjustment::none;
    }
    GPU_TEST_TRIAL_INFO(job);
    const auto edges = edges_of(measure::pearson, job.data, job);
    const auto check = [&](const auto& changed) {
      CHECK(gpu_test::are_close(edges_of(measure::pearson, changed, job), edges));
    };
    check(mapped<double>(job.data, [](int x) { return x * 0x1p300; }));
    check(mapped<double>(job.data, [](int x) { return x * 0x1p-300; }));
    check(mapped<double>(job.data, [](int x) { return 3 * x + 1000; }));
    check(mapped<float>(job.data, [](int x) { return x; }));
    check(mapped<std::uint8_t>(job.data, [](int x) { return x; }));
  }
}

TEST_CASE("The order of the columns means nothing to Spearman", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const trial job = random_trial(seed);
    GPU_TEST_TRIAL_INFO(job);
    const auto order = gpu_test::random_order(job.data.cols(), seed);
    gpu::matrix<std::int32_t> moved(job.data.rows(), job.data.cols());
    for (gpu::index_t i = 0; i < moved.rows(); ++i) {
      for (gpu::index_t j = 0; j < moved.cols(); ++j) {
        moved(i, j) = job.data(i, order[static_cast<std::size_t>(j)]);
      }
    }
    CHECK(edges_of(measure::spearman, moved, job) == edges_of(measure::spearman, job.data, job));
  }
}

TEST_CASE("Negated rows flip the signs of their pairs", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    trial job = random_trial(seed);
    // The family of Benjamini and Hochberg changes with the signs where the tail has one.
    if (job.keep.side != gpu::tail::two_sided) job.keep.adjust = gpu::adjustment::none;
    GPU_TEST_TRIAL_INFO(job);
    std::mt19937_64 engine(seed + 1000);
    std::vector<double> sign(static_cast<std::size_t>(job.data.rows()));
    for (double& s : sign) s = engine() % 2 == 0 ? 1 : -1;
    auto flipped = job.data.clone();
    for (gpu::index_t i = 0; i < flipped.rows(); ++i) {
      if (sign[static_cast<std::size_t>(i)] > 0) continue;
      for (std::int32_t& value : flipped.row(i)) value = -value;
    }
    // A pair whose sign is flipped passes where it passed the other tail before.
    trial other = random_trial(seed);
    other.keep = job.keep;
    if (job.keep.side != gpu::tail::two_sided) {
      other.keep.side = job.keep.side == gpu::tail::greater ? gpu::tail::less : gpu::tail::greater;
    }
    for (const measure statistic : {measure::spearman, measure::pearson}) {
      std::vector<gpu::edge> expected;
      for (const bool is_flipped : {false, true}) {
        for (gpu::edge e : edges_of(statistic, job.data, is_flipped ? other : job)) {
          const double s = sign[e.row] * sign[e.col];
          if ((s < 0) != is_flipped) continue;
          e.statistic *= s;
          expected.push_back(e);
        }
      }
      gpu_test::sort_by_place(expected);
      CHECK(gpu_test::are_close(edges_of(statistic, flipped, job), expected));
    }
  }
}

TEST_CASE("Copies of rows have the edges of their originals, folded or not", "[metamorphic]") {
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    trial job = random_trial(seed);
    job.keep.adjust = gpu::adjustment::none;  // the number of pairs changes
    job.options.p_method = gpu::p_method::t;  // rows are folded where p is that of t
    GPU_TEST_TRIAL_INFO(job);
    std::mt19937_64 engine(seed + 2000);
    std::vector<gpu::index_t> source = gpu_test::random_order(job.data.rows(), seed);
    const std::size_t originals = source.size();
    for (std::size_t k = 0; k < originals; ++k) source.push_back(source[engine() % originals]);
    const auto copied = gpu_test::with_rows(job.data, source);

    std::vector<std::vector<gpu::edge>> results;
    for (const auto fold : {gpu::row_folding::never, gpu::row_folding::always}) {
      job.options.fold = fold;
      results.push_back(edges_of(measure::spearman, copied, job));
    }
    CHECK(results[0] == results[1]);
    const auto folded =
        gpu_test::run(measure::spearman, copied, job.options, gpu::count_sink{.keep = job.keep});
    CHECK(folded.kept == results[0].size());
    CHECK(folded.summary.patterns <= job.data.rows());

    // Between copies of two rows stands what stands between the rows.
    const auto edges = edges_of(measure::spearman, job.data, job);
    std::size_t wrong = 0;
    for (const gpu::edge& e : results[0]) {
      const auto a = static_cast<gpu::node_id>(source[e.row]);
      const auto b = static_cast<gpu::node_id>(source[e.col]);
      if (a == b) {
        wrong += e.statistic != 1;
        continue;
      }
      const gpu::edge sought{std::min(a, b), std::max(a, b), e.statistic, e.p};
      const auto at =
          std::lower_bound(edges.begin(), edges.end(), sought, [](const auto& x, const auto& y) {
            return std::tie(x.row, x.col) < std::tie(y.row, y.col);
          });
      wrong += at == edges.end() || !(*at == sought);
    }
    CHECK(wrong == 0);
  }
}
