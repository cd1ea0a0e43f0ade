#pragma once
// All pairs of rows with missing values, each pair over the columns that both rows have: every sink
// against a slow oracle that takes those columns out and compares two rows at a time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/observations.hpp>
#include <gpu/p_value.hpp>

#include "reference/bicor_reference.hpp"
#include "reference/correlation_reference.hpp"
#include "reference/kendall_reference.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// How values are missing, and what the others are.
enum class holes {
  scattered,  ///< One value in twenty.
  many,       ///< One in two: some pairs share hardly anything.
  masks,      ///< Rows share one of five masks; every fifth row is complete.
  tied        ///< Scattered, of small integers: many rows are constant on what a pair shares.
};

inline gpu::matrix<double> rows_with_holes(gpu::index_t rows, gpu::index_t cols, holes kind,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double own = unit() + unit() + unit() - 1.5;
      const double common = std::sin(static_cast<double>(k * (1 + i % 3)));
      out(i, k) = kind == holes::tied ? std::floor(unit() * 3) : own + (i % 2 == 0 ? common : 0);
    }
  }
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::mt19937_64 mask(seed + 77 + static_cast<std::uint64_t>(i % 5));
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double drawn =
          kind == holes::masks ? static_cast<double>(mask() >> 11U) * 0x1p-53 : unit();
      const double share = kind == holes::many ? 0.5 : kind == holes::masks ? 0.25 : 0.05;
      if (drawn < share && !(kind == holes::masks && i % 5 == 0)) out(i, k) = missing;
    }
  }
  // Rows that are special.
  for (gpu::index_t k = 0; k < cols; ++k) {
    if (rows > 6) out(3, k) = missing;
    if (rows > 7 && out(4, k) == out(4, k)) out(4, k) = 7.5;
    // Constant but for one value, which half of the partners miss.
    if (rows > 8) out(5, k) = k == 1 ? 1e12 : 1.0;
    // Far from zero: sums of squares keep few digits.
    if (rows > 9) out(6, k) += 1e9;
  }
  if (rows > 9) {
    for (gpu::index_t i = 0; i < rows; i += 2) out(i, 1) = missing;
  }
  return out;
}

/// The measures of the cases: what they are called and their oracle of complete rows.
struct missing_measure {
  gpu::measure what;
  statistic_table (*oracle)(gpu::matrix_view<const double>);
  bool is_exact;
  double error = 3e-12;
  [[nodiscard]] bool same(double got, double wanted) const {
    if (is_exact || wanted != wanted) return got == wanted || (got != got && wanted != wanted);
    return std::abs(got - wanted) <= error;
  }
};
inline constexpr missing_measure missing_spearman{gpu::measure::spearman,
                                                  reference_spearman<double>, true};
inline constexpr missing_measure missing_pearson{gpu::measure::pearson, reference_pearson<double>,
                                                 false};
inline constexpr missing_measure missing_cosine{gpu::measure::cosine, reference_cosine<double>,
                                                false};
inline constexpr missing_measure missing_bicor{gpu::measure::bicor, reference_bicor<double>, false,
                                               8e-15};
inline constexpr missing_measure missing_kendall{gpu::measure::kendall, reference_kendall<double>,
                                                 true};

/// The statistic of two rows, the columns that they share, and p of the three tails.
struct shared_pair {
  double statistic;
  gpu::index_t observations;
  double p[3];
};

/// p of two complete rows of tau, the bits that edges hold, by the ties of both; near that of the
/// textbook.
inline double shared_kendall_p(const gpu::matrix<double>& both, double tau, gpu::tail side) {
  const auto ties = gpu::kendall_ties(both.view());
  const double p = gpu::kendall_p_value(tau, both.cols(), ties[0], ties[1], side);
  const auto wanted = static_cast<double>(
      reference_kendall_p(both.row(0).data(), both.row(1).data(), both.cols(), side));
  if (!(std::abs(p - wanted) <= 1e-10 * wanted + 1e-15)) {
    FAIL_CHECK("p of tau " << tau << ": got " << p << ", expected " << wanted);
  }
  return p;
}

inline shared_pair reference_shared(const missing_measure& measure, const double* x,
                                    const double* y, gpu::index_t cols, gpu::index_t least) {
  std::vector<double> values[2];
  for (gpu::index_t k = 0; k < cols; ++k) {
    if (x[k] != x[k] || y[k] != y[k]) continue;
    values[0].push_back(x[k]);
    values[1].push_back(y[k]);
  }
  const auto count = static_cast<gpu::index_t>(values[0].size());
  shared_pair out{missing, count, {missing, missing, missing}};
  if (count < least) return out;
  gpu::matrix<double> both(2, count);
  for (gpu::index_t side = 0; side < 2; ++side) {
    std::copy_n(values[side].data(), count, both.row(side).begin());
  }
  out.statistic = measure.oracle(const_view(both))[0][1];
  if (out.statistic != out.statistic || measure.what == gpu::measure::cosine) return out;
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    out.p[static_cast<int>(side)] = measure.what == gpu::measure::kendall
                                        ? shared_kendall_p(both, out.statistic, side)
                                        : reference_p(out.statistic, count, side);
  }
  return out;
}

/// What the oracle says of every pair of a row of x and a row of y.
class shared_oracle {
 public:
  shared_oracle(const missing_measure& measure, gpu::matrix_view<const double> x,
                gpu::matrix_view<const double> y, gpu::index_t least)
      : cols_(static_cast<std::size_t>(y.rows())) {
    for (gpu::index_t i = 0; i < x.rows(); ++i) {
      for (gpu::index_t j = 0; j < y.rows(); ++j) {
        pairs_.push_back(reference_shared(measure, x.row(i), y.row(j), x.cols(), least));
      }
    }
  }
  [[nodiscard]] const shared_pair& of(gpu::index_t i, gpu::index_t j) const {
    return pairs_[static_cast<std::size_t>(i) * cols_ + static_cast<std::size_t>(j)];
  }

 private:
  std::size_t cols_;
  std::vector<shared_pair> pairs_;
};

inline bool passes(const shared_pair& pair, const gpu::pair_filter& keep) {
  if (pair.statistic != pair.statistic) return false;
  const bool strong = keep.min_abs == 0 || reference_key(pair.statistic, keep.side) >= keep.min_abs;
  return strong && (keep.max_p == 1 || pair.p[static_cast<int>(keep.side)] <= keep.max_p);
}

struct wanted_edge {
  gpu::index_t row;
  gpu::index_t col;
  shared_pair pair;
};

inline std::vector<wanted_edge> wanted_edges(const shared_oracle& oracle, gpu::index_t rows,
                                             gpu::index_t cols, bool is_against,
                                             const gpu::pair_filter& keep) {
  std::vector<wanted_edge> out;
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = is_against ? 0 : i + 1; j < cols; ++j) {
      if (passes(oracle.of(i, j), keep)) out.push_back({i, j, oracle.of(i, j)});
    }
  }
  return out;
}

inline void check_missing_edges(const missing_measure& measure, std::span<const gpu::edge> got,
                                const std::vector<wanted_edge>& wanted, gpu::tail side) {
  REQUIRE(got.size() == wanted.size());
  // One number of observations after the other: the test of each is made anew.
  std::vector<std::size_t> order(got.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return wanted[a].pair.observations < wanted[b].pair.observations;
  });
  std::size_t wrong = 0;
  for (const std::size_t e : order) {
    double p = wanted[e].pair.p[static_cast<int>(side)];  // of cosine missing, of tau all bits
    if (measure.what != gpu::measure::cosine && measure.what != gpu::measure::kendall) {
      p = gpu::correlation_p_value(got[e].statistic, wanted[e].pair.observations, side);
    }
    const bool same_p = got[e].p == p || (p != p && got[e].p != got[e].p);
    wrong += gpu::index_t{got[e].row} != wanted[e].row ||
             gpu::index_t{got[e].col} != wanted[e].col ||
             !measure.same(got[e].statistic, wanted[e].pair.statistic) || !same_p;
  }
  CHECK(wrong == 0);
}

inline std::vector<gpu::pair_filter> missing_filters(const missing_measure& measure) {
  std::vector<gpu::pair_filter> out;
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const auto& [max_p, min_abs] : {std::pair(1.0, 0.0), std::pair(1.0, 0.6137),
                                         std::pair(0.05, 0.0), std::pair(1e-4, 0.3137)}) {
      if (max_p < 1 && measure.what == gpu::measure::cosine) continue;
      out.push_back({.max_p = max_p, .min_abs = min_abs, .side = side});
    }
  }
  return out;
}

inline gpu::pair_options pairwise_options(const pair_target& target, gpu::index_t least = 3) {
  gpu::pair_options out = target.options();
  out.nans = gpu::nan_policy::pairwise;
  out.min_observations = least;
  return out;
}

/// The best partners of a row, equal ones by their numbers: those of [0, cols) that `keeps` lets
/// pass, by statistic(j).
template <class Statistic, class Keeps>
std::vector<gpu::node_id> best_partners(const gpu::top_k_sink& sink, gpu::index_t cols,
                                        const Statistic& statistic, const Keeps& keeps) {
  std::vector<gpu::node_id> out;
  for (gpu::index_t j = 0; j < cols; ++j) {
    if (keeps(j)) out.push_back(static_cast<gpu::node_id>(j));
  }
  const auto rank = [&](gpu::node_id j) {
    const double r = statistic(gpu::index_t{j});
    return sink.order == gpu::neighbor_order::by_absolute_value ? std::abs(r) : r;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](gpu::node_id a, gpu::node_id b) { return rank(a) > rank(b); });
  out.resize(std::min(out.size(), static_cast<std::size_t>(sink.k)));
  return out;
}

/// Whether row i of a table has these partners, and none behind them.
inline bool has_partners(const gpu::neighbor_table& got, gpu::index_t i,
                         const std::vector<gpu::node_id>& wanted) {
  const auto row = got.index.row(i);
  const auto behind = row.begin() + static_cast<std::ptrdiff_t>(wanted.size());
  return got.count[static_cast<std::size_t>(i)] == wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), row.begin()) &&
         std::all_of(behind, row.end(), [](gpu::node_id partner) {
           return partner == gpu::neighbor_table::no_neighbor;
         });
}

/// The k best partners of each row by the oracle.
inline void check_partners(const missing_measure& measure, const gpu::neighbor_table& got,
                           const shared_oracle& oracle, gpu::index_t rows, gpu::index_t cols,
                           bool is_against, const gpu::top_k_sink& sink) {
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::vector<std::pair<double, gpu::index_t>> all;
    for (gpu::index_t j = 0; j < cols; ++j) {
      if (!is_against && i == j) continue;
      const double r = oracle.of(i, j).statistic;
      if (!passes(oracle.of(i, j), sink.keep)) continue;
      if (sink.keep.side == gpu::tail::greater && r < 0) continue;
      if (sink.keep.side == gpu::tail::less && r > 0) continue;
      all.emplace_back(-reference_partner_key(r, sink.order, sink.keep.side), j);
    }
    std::sort(all.begin(), all.end());
    const auto count = std::min<std::size_t>(all.size(), static_cast<std::size_t>(sink.k));
    wrong += got.count[static_cast<std::size_t>(i)] != count;
    for (std::size_t e = 0;
         e < std::min<std::size_t>(count, got.count[static_cast<std::size_t>(i)]); ++e) {
      const auto at = static_cast<gpu::index_t>(e);
      const auto partner = gpu::index_t{got.index(i, at)};
      const double r = got.statistic(i, at);
      // Statistics that differ by rounding alone may stand in either order.
      wrong += !measure.same(r, oracle.of(i, partner).statistic);
      const double key = -reference_partner_key(r, sink.order, sink.keep.side);
      wrong += measure.is_exact ? partner != all[e].second
                                : std::abs(key - all[e].first) > measure.error;
    }
  }
  CHECK(wrong == 0);
}

/// Every sink of one table, or of x against y where `rows_of_x` are set apart.
inline void missing_equals_the_oracle(const pair_target& target, const missing_measure& measure,
                                      const gpu::matrix<double>& data, gpu::index_t rows_of_x,
                                      gpu::index_t least) {
  const bool is_against = rows_of_x > 0;
  const gpu::matrix_view<const double> all = data.view();
  const gpu::index_t height = is_against ? rows_of_x : data.rows();
  const gpu::matrix_view<const double> x(all.row(0), height, data.cols());
  const gpu::matrix_view<const double> y(
      all.row(data.rows() - (is_against ? data.rows() - height : data.rows())),
      is_against ? data.rows() - height : data.rows(), data.cols());
  const shared_oracle oracle(measure, x, y, least);
  const gpu::pair_options options = pairwise_options(target, least);
  const auto run = [&](const auto& sink, const gpu::pair_options& how) {
    return is_against ? gpu::all_pairs(measure.what, x, y, how, sink)
                      : gpu::all_pairs(measure.what, x, how, sink);
  };

  const auto dense = run(gpu::dense_sink{}, options);
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t j = 0; j < y.rows(); ++j) {
      if (!is_against && i == j) continue;
      wrong += !measure.same(dense(i, j), oracle.of(i, j).statistic);
    }
  }
  CHECK(wrong == 0);
  const auto single = run(gpu::dense_sink_f32{}, options);
  wrong = 0;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t j = 0; j < y.rows(); ++j) {
      // Of rows without missing values a float may be off by more than its rounding.
      const double difference = std::abs(static_cast<double>(single(i, j)) - dense(i, j));
      const bool both_none = dense(i, j) != dense(i, j) && single(i, j) != single(i, j);
      wrong += !(difference <= 2e-6 || both_none);
    }
  }
  CHECK(wrong == 0);

  for (const gpu::pair_filter& keep : missing_filters(measure)) {
    INFO("max_p " << keep.max_p << ", min_abs " << keep.min_abs << ", tail "
                  << static_cast<int>(keep.side));
    const auto wanted = wanted_edges(oracle, x.rows(), y.rows(), is_against, keep);
    const auto edges = run(gpu::edge_sink{.keep = keep}, options);
    check_missing_edges(measure, edges.edges, wanted, keep.side);

    const auto counts = run(gpu::count_sink{.keep = keep, .histogram_bins = 20}, options);
    CHECK(counts.kept == wanted.size());
    std::vector<std::uint32_t> degree(static_cast<std::size_t>(x.rows()));
    std::vector<std::uint32_t> y_degree(static_cast<std::size_t>(is_against ? y.rows() : 0));
    std::vector<std::uint64_t> histogram(20);
    for (const gpu::edge& edge : edges.edges) {
      ++degree[edge.row];
      ++(is_against ? y_degree : degree)[edge.col];
      ++histogram[std::min<std::size_t>(static_cast<std::size_t>((edge.statistic + 1) * 10), 19)];
    }
    CHECK(counts.degree == degree);
    CHECK(counts.y_degree == y_degree);
    CHECK(counts.histogram == histogram);

    // Without a cut a statistic of 0 but for rounding may be on either side.
    const bool cuts = keep.max_p < 1 || keep.min_abs > 0;
    if (!measure.is_exact && keep.side != gpu::tail::two_sided && !cuts) continue;
    for (const auto order :
         {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
      const gpu::top_k_sink sink{.k = 3, .keep = keep, .order = order};
      check_partners(measure, run(sink, options), oracle, x.rows(), y.rows(), is_against, sink);
    }
    if (measure.what == gpu::measure::kendall) {
      const auto p = is_against ? gpu::shared_kendall_p(x, y, edges.edges, keep.side)
                                : gpu::shared_kendall_p(x, edges.edges, keep.side);
      CHECK(std::equal(p.begin(), p.end(), edges.edges.begin(), edges.edges.end(),
                       [](double own, const gpu::edge& e) { return own == e.p; }));
    }

    if (keep.side != gpu::tail::two_sided) continue;
    std::vector<gpu::edge> joined;
    for (gpu::index_t part = 0; part < 3; ++part) {
      gpu::pair_options own = options;
      own.part = {.index = part, .of = 3};
      const auto some = run(gpu::edge_sink{.keep = keep}, own);
      joined.insert(joined.end(), some.edges.begin(), some.edges.end());
    }
    CHECK(std::equal(joined.begin(), joined.end(), edges.edges.begin(), edges.edges.end(),
                     [](const gpu::edge& a, const gpu::edge& b) {
                       return a.row == b.row && a.col == b.col && a.statistic == b.statistic &&
                              (a.p == b.p || (a.p != a.p && b.p != b.p));
                     }));
  }
  if (measure.what == gpu::measure::cosine) return;

  // The family is the pairs that have a statistic.
  const auto family = wanted_edges(oracle, x.rows(), y.rows(), is_against, {});
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater}) {
    const double alpha = 0.2;
    const gpu::pair_filter bonferroni{
        .max_p = alpha, .side = side, .adjust = gpu::adjustment::bonferroni};
    const double share = alpha / static_cast<double>(std::max<std::size_t>(family.size(), 1));
    const auto strict =
        wanted_edges(oracle, x.rows(), y.rows(), is_against, {.max_p = share, .side = side});
    const auto few = run(gpu::edge_sink{.keep = bonferroni}, options);
    check_missing_edges(measure, few.edges, strict, side);
    CHECK(few.summary.pairs_tested == family.size());

    std::vector<double> p;
    for (const wanted_edge& e : family) {
      p.push_back(e.pair.p[static_cast<int>(side)]);
    }
    const double cut = reference_benjamini_hochberg(p, alpha);
    const auto kept = static_cast<std::uint64_t>(
        std::count_if(p.begin(), p.end(), [cut](double own) { return own <= cut; }));
    const auto counts = run(
        gpu::count_sink{
            .keep = {.max_p = alpha, .side = side, .adjust = gpu::adjustment::benjamini_hochberg}},
        options);
    CHECK(counts.kept == kept);
    CHECK(counts.tested == family.size());
  }
}

inline void run_missing_cases(const pair_target& target, const missing_measure& measure,
                              const std::vector<std::pair<gpu::index_t, gpu::index_t>>& shapes) {
  GPU_TEST_INFO(target);
  std::uint64_t seed = 1;
  for (const auto& [rows, cols] : shapes) {
    for (const holes kind : {holes::scattered, holes::many, holes::masks, holes::tied}) {
      INFO(rows << " x " << cols << ", holes " << static_cast<int>(kind));
      const gpu::matrix<double> data = rows_with_holes(rows, cols, kind, ++seed);
      missing_equals_the_oracle(target, measure, data, 0, 3);
      if (kind == holes::many) {
        missing_equals_the_oracle(target, measure, data, 0, std::min<gpu::index_t>(8, cols));
        missing_equals_the_oracle(target, measure, data, 0, cols + 1);  // which no pair shares
      }
      if (rows > 2) missing_equals_the_oracle(target, measure, data, rows / 3, 3);
    }
  }
}

}  // namespace gpu_test
