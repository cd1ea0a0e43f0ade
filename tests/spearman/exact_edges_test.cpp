// All pairs with p by permutations: every sink beside an oracle that decides each pair by its own
// p.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/error.hpp>
#include <gpu/max_t.hpp>
#include <gpu/observations.hpp>
#include <gpu/p_value.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/correlation_reference.hpp"
#include "reference/permutation_reference.hpp"
#include "support/catch.hpp"
#include "support/cpu_targets.hpp"
#include "support/generators.hpp"
#include "support/refusals.hpp"

namespace {

using gpu_test::check_refused;
using gpu_test::const_view;

using gpu_test::all_sides;
using gpu_test::factorial;

enum class rows_with { no_ties, some_ties, ties };

// Rows that move together; some rounded, one constant, one a copy of its neighbour's opposite.
gpu::matrix<float> make_rows(gpu::index_t rows, gpu::index_t cols, rows_with what,
                             std::uint64_t seed) {
  const auto noise = gpu_test::random_matrix<double>(rows, cols, seed);
  const auto common = gpu_test::random_matrix<double>(3, cols, seed + 1);
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const bool is_tied = what == rows_with::ties || (what == rows_with::some_ties && i % 3 == 1);
    for (gpu::index_t k = 0; k < cols; ++k) {
      double x = noise(i, k) + common(i % 3, k);
      if (is_tied) x = std::round(2 * x);
      if (i % 13 == 12) x = -static_cast<double>(out(i - 1, k));
      if (i == 5 && what != rows_with::no_ties) x = 3;
      out(i, k) = static_cast<float>(x);
    }
  }
  return out;
}

struct pair_p {
  gpu::node_id row;
  gpu::node_id col;
  double rho;
  double p;
  bool is_by_t;
};

template <class T>
bool has_ties(const T* row, gpu::index_t cols) {
  std::vector<T> sorted(row, row + cols);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// The groups of equal values of a row, largest first, as sum of t^3 - t and product of t!.
struct tie_pattern {
  gpu::index_t sum = 0;
  double permutations = 1;

  [[nodiscard]] tie_pattern with(gpu::index_t group) const {
    return {sum + group * group * group - group, permutations * factorial(group)};
  }
};

// The most permutations of the patterns of `left` values more, that end in this sum.
double most_permutations(gpu::index_t left, gpu::index_t largest, const tie_pattern& pattern,
                         gpu::index_t sum) {
  if (left == 0) return pattern.sum == sum ? pattern.permutations : 0;
  double most = 0;
  for (gpu::index_t group = 1; group <= std::min(left, largest); ++group) {
    most = std::max(most, most_permutations(left - group, group, pattern.with(group), sum));
  }
  return most;
}

// Two-sided: that of permutations, of which up to 9 columns know ties.
double least_p(const float* row, gpu::index_t cols) {
  if (cols > 9) return 2 / factorial(cols);
  std::vector<float> sorted(row, row + cols);
  std::sort(sorted.begin(), sorted.end());
  tie_pattern own;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto end = std::upper_bound(at, sorted.end(), *at);
    own = own.with(end - at);
    at = end;
  }
  return std::min(1.0, 2 * most_permutations(cols, cols - 1, {}, own.sum) / factorial(cols));
}

// Student's t that is never below `least`.
double floored_p(double rho, gpu::index_t cols, gpu::tail side, double least) {
  const double p = std::max(gpu::correlation_p_value(rho, cols), 2 / factorial(cols));
  if (side == gpu::tail::two_sided) return std::max(p, least);
  const bool in_the_tail = side == gpu::tail::greater ? rho > 0 : rho < 0;
  return in_the_tail ? std::max(p / 2, least / 2) : 1 - p / 2;
}

// Every pair of rows of x and y, which stand one behind the other in `both`.
std::vector<pair_p> every_pair(gpu::matrix_view<const float> both, gpu::index_t rows_of_x,
                               gpu::tail side, bool is_by_t_alone = false) {
  const auto rho = gpu_test::reference_spearman(both);
  const bool is_against = rows_of_x < both.rows();
  std::vector<pair_p> out;
  for (gpu::index_t i = 0; i < rows_of_x; ++i) {
    const bool is_tied = has_ties(both.row(i), both.cols());
    for (gpu::index_t j = is_against ? rows_of_x : i + 1; j < both.rows(); ++j) {
      const double r = rho[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (std::isnan(r)) continue;
      const gpu::index_t cols = both.cols();
      const bool is_by_t = is_by_t_alone || is_tied || has_ties(both.row(j), cols) || cols > 1290;
      const double least =
          is_by_t ? std::max(least_p(both.row(i), cols), least_p(both.row(j), cols)) : 0;
      const double p =
          is_by_t ? floored_p(r, cols, side, least) : gpu::spearman_p_value(r, cols, {}, {}, side);
      const gpu::index_t col = is_against ? j - rows_of_x : j;
      out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(col), r, p, is_by_t});
    }
  }
  return out;
}

std::vector<pair_p> every_pair(const gpu::matrix<float>& data, gpu::tail side,
                               bool is_by_t_alone = false) {
  return every_pair(const_view(data), data.rows(), side, is_by_t_alone);
}

std::vector<pair_p> kept_of(const std::vector<pair_p>& all, const gpu::pair_filter& keep,
                            double max_p) {
  std::vector<pair_p> out;
  for (const pair_p& pair : all) {
    const double key = gpu_test::reference_key(pair.rho, keep.side);
    if ((keep.min_abs == 0 || key >= keep.min_abs) && pair.p <= max_p) out.push_back(pair);
  }
  return out;
}

double rejected_up_to(const std::vector<pair_p>& all, double alpha) {
  std::vector<double> p;
  for (const pair_p& pair : all) p.push_back(pair.p);
  std::sort(p.begin(), p.end());
  for (std::size_t k = p.size(); k > 0; --k) {
    if (p[k - 1] <= alpha * static_cast<double>(k) / static_cast<double>(p.size())) return p[k - 1];
  }
  return -1;
}

void check_kept(std::span<const gpu::edge> got, const std::vector<pair_p>& wanted) {
  REQUIRE(got.size() == wanted.size());
  CHECK(std::equal(got.begin(), got.end(), wanted.begin(), [](const gpu::edge& e, const pair_p& w) {
    return e.row == w.row && e.col == w.col && e.statistic == w.rho && e.p == w.p;
  }));
}

gpu::pair_options exact(gpu::pair_variant variant = gpu::pair_variant::automatic) {
  gpu::pair_options out;
  out.p_method = gpu::p_method::exact;
  out.variant = variant;
  out.exec.target = gpu::backend::cpu;
  return out;
}

gpu::pair_options automatic() {
  gpu::pair_options out;
  out.exec.target = gpu::backend::cpu;
  return out;
}

std::uint64_t pairs_by_t(const std::vector<pair_p>& all) {
  return static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [](const pair_p& pair) { return pair.is_by_t; }));
}

void check_sinks(const gpu::matrix<float>& data, const std::vector<pair_p>& all,
                 const gpu::pair_options& options, const gpu::pair_filter& keep) {
  const auto wanted = kept_of(all, keep, keep.max_p);
  const auto got = gpu::spearman_all_pairs(data, options, gpu::edge_sink{.keep = keep});
  check_kept(got.edges, wanted);
  const bool has_permutations = got.summary.test == gpu::significance::permutations;
  CHECK(got.summary.pairs_by_t == (has_permutations ? pairs_by_t(all) : 0));
  CHECK(got.summary.least_p == 2 / factorial(data.cols()));
  CHECK(got.summary.pairs_tested == all.size());
  std::vector<gpu::edge> streamed;
  gpu::stream_sink stream{.keep = keep};
  stream.consume = [&](std::span<const gpu::edge> edges) {
    streamed.insert(streamed.end(), edges.begin(), edges.end());
  };
  const auto summary = gpu::spearman_all_pairs(data, options, stream);
  check_kept(streamed, wanted);
  CHECK(summary.checksum == got.summary.checksum);
  const auto counts =
      gpu::spearman_all_pairs(data, options, gpu::count_sink{.keep = keep, .histogram_bins = 20});
  CHECK(counts.kept == wanted.size());
  CHECK(counts.tested == all.size());
  CHECK(std::accumulate(counts.histogram.begin(), counts.histogram.end(), std::uint64_t{0}) ==
        wanted.size());
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(data.rows()));
  for (const pair_p& pair : wanted) {
    ++degree[pair.row];
    ++degree[pair.col];
  }
  CHECK(counts.degree == degree);
}

}  // namespace

TEST_CASE("edges, streams and counts by exact p", "[spearman][exact]") {
  for (const auto variant : {gpu::pair_variant::tiled, gpu::pair_variant::naive}) {
    for (const auto what : {rows_with::no_ties, rows_with::some_ties, rows_with::ties}) {
      for (const gpu::index_t cols : {3, 4, 8, 9, 10, 33, 128, 140, 300}) {
        const auto data = make_rows(70, cols, what, static_cast<std::uint64_t>(cols));
        for (const gpu::pair_filter& keep : gpu_test::some_filters()) {
          INFO(gpu::to_string(variant) << ", rows " << static_cast<int>(what) << ", " << cols
                                       << " columns, max_p " << keep.max_p << ", min_abs "
                                       << keep.min_abs << ", tail " << static_cast<int>(keep.side));
          check_sinks(data, every_pair(data, keep.side), exact(variant), keep);
        }
      }
    }
  }
}

TEST_CASE("edges, streams and counts by the default p", "[spearman][exact]") {
  for (const auto what : {rows_with::no_ties, rows_with::some_ties, rows_with::ties}) {
    for (const gpu::index_t cols : {3, 4, 5, 7, 8, 9, 10, 11, 30, 200}) {
      const auto data = make_rows(80, cols, what, static_cast<std::uint64_t>(cols));
      std::vector<gpu::pair_filter> filters = gpu_test::some_filters();
      for (const gpu::tail side : all_sides) {
        const double least = (side == gpu::tail::two_sided ? 2 : 1) / factorial(cols);
        if (least == 0) continue;
        filters.push_back({.max_p = least, .side = side});
        filters.push_back({.max_p = std::nextafter(least, 0.0), .side = side});
        filters.push_back({.max_p = std::min(1.0, 5 * least), .side = side});
      }
      for (const gpu::pair_filter& keep : filters) {
        INFO("rows " << static_cast<int>(what) << ", " << cols << " columns, max_p " << keep.max_p
                     << ", min_abs " << keep.min_abs << ", tail " << static_cast<int>(keep.side));
        check_sinks(data, every_pair(data, keep.side, cols > 9), automatic(), keep);
      }
    }
  }
}

TEST_CASE("No pair of noise of few columns passes a strict cut", "[spearman][exact]") {
  for (const gpu::index_t cols : {4, 5, 6, 7, 8, 9}) {
    for (const bool is_tied : {false, true}) {
      auto data = gpu_test::random_matrix<double>(600, cols, static_cast<std::uint64_t>(cols));
      for (gpu::index_t i = 0; is_tied && i < data.rows(); i += 2) {
        for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = data(i, k) > 0 ? 1 : 0;
      }
      INFO(cols << " columns, " << (is_tied ? "half of the rows tied" : "no ties"));
      for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
        const auto found = gpu::spearman_all_pairs(
            data, automatic(), gpu::count_sink{.keep = {.max_p = 0.05, .adjust = adjust}});
        CHECK(found.kept == 0);
      }
      gpu::pair_options by_t = automatic();
      by_t.p_method = gpu::p_method::t;
      const auto of_t = gpu::spearman_all_pairs(
          data, by_t,
          gpu::count_sink{.keep = {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}});
      if (cols < 7) CHECK(of_t.kept > 0);  // |rho| = 1, of which Student's t says p = 0
    }
  }
}

TEST_CASE("adjustments of exact and of the default p", "[spearman][exact]") {
  struct job {
    gpu::index_t rows;
    gpu::index_t cols;
    rows_with what;
    gpu::pair_options options;
  };
  std::vector<job> jobs;
  for (const gpu::index_t cols : {4, 6, 8, 9, 10, 12}) {
    for (const auto what : {rows_with::some_ties, rows_with::ties}) {
      jobs.push_back({110, cols, what, automatic()});
    }
  }
  for (const gpu::index_t cols : {7, 25}) {
    jobs.push_back({70, cols, rows_with::some_ties, exact()});
  }
  for (const auto& [rows, cols, what, options] : jobs) {
    const auto data = make_rows(rows, cols, what, 5);
    const bool is_exact = options.p_method == gpu::p_method::exact;
    for (const gpu::tail side : all_sides) {
      const auto all = every_pair(data, side, !is_exact && cols > 9);
      for (const double alpha : {1.0, 0.3, 0.05, 1e-3, 1e-6}) {
        INFO(cols << " columns, exact " << is_exact << ", tail " << static_cast<int>(side)
                  << ", alpha " << alpha);
        const auto edges_of = [&, &how = options](gpu::adjustment adjust) {
          return gpu::spearman_all_pairs(
              data, how, gpu::edge_sink{.keep = {.max_p = alpha, .side = side, .adjust = adjust}});
        };
        check_kept(edges_of(gpu::adjustment::bonferroni).edges,
                   kept_of(all, {.side = side}, alpha / static_cast<double>(all.size())));
        check_kept(edges_of(gpu::adjustment::benjamini_hochberg).edges,
                   kept_of(all, {.side = side}, rejected_up_to(all, alpha)));
      }
    }
  }
}

TEST_CASE("what has no p by permutations has t that is never below the least p",
          "[spearman][exact]") {
  const auto data = make_rows(60, 5, rows_with::no_ties, 3);
  const auto exact_edges = gpu::spearman_all_pairs(data, automatic(), gpu::edge_sink{});
  CHECK(exact_edges.summary.test == gpu::significance::permutations);
  // Folding changes nothing.
  gpu::pair_options options = automatic();
  options.fold = gpu::row_folding::always;
  CHECK(gpu::spearman_all_pairs(data, options, gpu::edge_sink{}).edges == exact_edges.edges);
  const auto by_t = every_pair(data, gpu::tail::two_sided, true);
  CHECK(gpu::spearman_all_pairs(data, automatic(), gpu::dense_sink{}).summary.test ==
        gpu::significance::floored_t);
  options = automatic();
  options.nans = gpu::nan_policy::pairwise;
  check_kept(gpu::spearman_all_pairs(data, options, gpu::edge_sink{}).edges, by_t);
  options = automatic();
  const auto covariates = gpu_test::random_matrix<double>(1, 5, 8);
  options.covariates = covariates.view();
  const auto partial = gpu::spearman_all_pairs(data, options, gpu::edge_sink{});
  CHECK(partial.summary.test == gpu::significance::floored_t);
  CHECK(std::all_of(partial.edges.begin(), partial.edges.end(),
                    [](const gpu::edge& e) { return e.p >= 2 / factorial(4); }));
  CHECK(gpu::spearman_all_pairs(data, automatic()).summary.test == gpu::significance::floored_t);
}

// Of 4 observations Student's t has 2 degrees of freedom, where p = 1 - |r|.
TEST_CASE("effective observations have Student's t alone", "[spearman][exact]") {
  for (const gpu::index_t cols : {5, 12}) {
    const auto data = make_rows(60, cols, rows_with::no_ties, 3);
    const auto covariates = gpu_test::random_matrix<double>(1, cols, 8);
    for (const bool is_partial : {false, true}) {
      INFO(cols << " columns, partial " << is_partial);
      gpu::pair_options options = automatic();
      options.effective_observations = is_partial ? 5 : 4;
      if (is_partial) options.covariates = covariates.view();
      const auto got = gpu::spearman_all_pairs(data, options, gpu::edge_sink{});
      CHECK(got.summary.test == gpu::significance::student_t);
      CHECK(got.summary.least_p == 0);
      CHECK(got.summary.observations == 4.0);
      CHECK(got.edges.size() == 60 * 59 / 2);
      CHECK(std::all_of(got.edges.begin(), got.edges.end(), [](const gpu::edge& e) {
        return std::abs(e.p - (1 - std::abs(e.statistic))) < 1e-14;
      }));
    }
  }
}

TEST_CASE("missing values: the least p is that of the columns that a pair shares",
          "[spearman][exact]") {
  gpu::matrix<double> data(3, 6);
  for (gpu::index_t k = 0; k < 6; ++k) {
    data(0, k) = static_cast<double>(k);
    data(1, k) = static_cast<double>(2 * k);
    data(2, k) = static_cast<double>(-k);
  }
  data(2, 4) = std::nan("");
  data(2, 5) = std::nan("");
  gpu::pair_options options = automatic();
  options.nans = gpu::nan_policy::pairwise;
  const auto got = gpu::spearman_all_pairs(data, options, gpu::edge_sink{});
  REQUIRE(got.edges.size() == 3);
  CHECK(got.edges[0].p == 2 / factorial(6));
  CHECK(got.edges[1].p == 2 / factorial(4));
  const auto within =
      gpu::spearman_all_pairs(data, options, gpu::edge_sink{.keep = {.max_p = 0.01}});
  CHECK(within.edges.size() == 1);
}

TEST_CASE("partners by exact p", "[spearman][exact]") {
  const auto data = make_rows(1100, 12, rows_with::some_ties, 6);
  for (const gpu::tail side : all_sides) {
    const auto all = every_pair(data, side);
    std::vector<std::vector<pair_p>> of_row(1100);
    for (const pair_p& pair : all) {
      of_row[pair.row].push_back(pair);
      of_row[pair.col].push_back({pair.col, pair.row, pair.rho, pair.p, pair.is_by_t});
    }
    for (const double max_p : {1.0, 0.01}) {
      INFO("tail " << static_cast<int>(side) << ", max_p " << max_p);
      const auto got =
          gpu::spearman_all_pairs(data, exact(),
                                  gpu::top_k_sink{.k = 4,
                                                  .keep = {.max_p = max_p, .side = side},
                                                  .order = gpu::neighbor_order::by_absolute_value});
      bool all_same = true;
      for (std::size_t i = 0; i < of_row.size(); ++i) {
        std::vector<pair_p> own;
        for (const pair_p& pair : of_row[i]) {
          const bool has_sign =
              side == gpu::tail::two_sided || gpu_test::reference_key(pair.rho, side) >= 0;
          if (pair.p <= max_p && has_sign) own.push_back(pair);
        }
        std::sort(own.begin(), own.end(), [](const pair_p& a, const pair_p& b) {
          return std::abs(a.rho) != std::abs(b.rho) ? std::abs(a.rho) > std::abs(b.rho)
                                                    : a.col < b.col;
        });
        own.resize(std::min<std::size_t>(own.size(), 4));
        all_same &= got.count[i] == own.size();
        for (std::size_t e = 0; e < std::min<std::size_t>(own.size(), got.count[i]); ++e) {
          const auto row = static_cast<gpu::index_t>(i);
          all_same &= got.index(row, static_cast<gpu::index_t>(e)) == own[e].col;
          all_same &= got.statistic(row, static_cast<gpu::index_t>(e)) == own[e].rho;
        }
      }
      CHECK(all_same);
    }
  }
}

TEST_CASE("q of partners by exact p", "[spearman][exact]") {
  const auto data = make_rows(50, 14, rows_with::some_ties, 2);
  const gpu::pair_filter keep{.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto got = gpu::spearman_all_pairs(
      data, exact(), gpu::top_k_sink{.k = 3, .keep = keep, .q = gpu::neighbor_q::exact});
  const auto all = every_pair(data, gpu::tail::two_sided);
  std::vector<double> p;
  for (const pair_p& pair : all) p.push_back(pair.p);
  const std::vector<double> q =
      gpu::adjusted_p_values(std::span<const double>(p), p.size(), keep.adjust);
  gpu::index_t found = 0;
  for (gpu::node_id i = 0; i < 50; ++i) {
    for (gpu::index_t e = 0; e < got.count[i]; ++e, ++found) {
      const gpu::node_id a = std::min(i, got.index(i, e));
      const gpu::node_id b = std::max(i, got.index(i, e));
      const auto at = std::find_if(all.begin(), all.end(), [&](const pair_p& pair) {
        return pair.row == a && pair.col == b;
      });
      REQUIRE(at != all.end());
      CHECK(got.q(i, e) == q[static_cast<std::size_t>(at - all.begin())]);
    }
  }
  CHECK(found > 20);
}

TEST_CASE("discoveries of parts by exact p", "[spearman][exact]") {
  const auto data = make_rows(90, 13, rows_with::some_ties, 21);
  const gpu::pair_filter keep{.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto whole = gpu::spearman_all_pairs(data, exact(), gpu::edge_sink{.keep = keep});
  gpu::discovery_sink sink{.keep = {.max_p = 0.05}};
  for (int pass = 0; !sink.search || !sink.search->is_decided(); ++pass) {
    REQUIRE(pass < 20);
    std::optional<gpu::discovery_counts> sum;
    for (gpu::index_t part = 0; part < 3; ++part) {
      gpu::pair_options options = exact();
      options.part = {.index = part, .of = 3};
      const auto counts = gpu::spearman_all_pairs(data, options, sink);
      if (sum) {
        *sum += counts;
      } else {
        sum = counts;
      }
    }
    sink.search = gpu::next_search(*sum);
  }
  CHECK(sink.search->max_p_effective() == whole.summary.max_p_effective);
  CHECK(whole.edges.size() > 20);
}

TEST_CASE("exact p leaves statistics and the rest alone", "[spearman][exact]") {
  const auto data = make_rows(60, 9, rows_with::some_ties, 4);
  const auto by_t = gpu::spearman_all_pairs(data);
  const auto by_permutations = gpu::spearman_all_pairs(data, exact());
  CHECK(by_t.summary.pairs_by_t == 0);
  for (gpu::index_t i = 0; i < 60; ++i) {
    for (gpu::index_t j = 0; j < 60; ++j) {
      const double a = by_t(i, j);
      const double b = by_permutations(i, j);
      CHECK((a == b || (std::isnan(a) && std::isnan(b))));
    }
  }
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, data, exact(),
                                        gpu::edge_sink{.keep = {.max_p = 0.05}});
  const auto edges =
      gpu::spearman_all_pairs(data, exact(), gpu::edge_sink{.keep = {.max_p = 0.05}});
  CHECK(plan.used == gpu::backend::cpu);
  CHECK(std::abs(plan.kept_estimate - static_cast<double>(edges.edges.size())) < 1e-6);
}

TEST_CASE("what exact p is refused for", "[spearman][exact]") {
  const auto data = make_rows(20, 9, rows_with::some_ties, 4);
  const gpu::edge_sink sink{.keep = {.max_p = 0.5}};
  check_refused<gpu::unsupported>([&] { (void)gpu::pearson_all_pairs(data, exact(), sink); },
                                  "options.p_method: exact is not offered for Pearson");
  check_refused<gpu::unsupported>([&] { (void)gpu::kendall_all_pairs(data, exact(), sink); },
                                  "options.p_method: exact is not offered for Kendall");
  gpu::pair_options options = exact();
  options.nans = gpu::nan_policy::pairwise;
  check_refused<gpu::unsupported>(
      [&] { (void)gpu::spearman_all_pairs(data, options, sink); },
      "options.nans: pairwise is not offered with options.p_method exact");
  options = exact();
  const auto covariates = gpu_test::random_matrix<double>(1, 9, 8);
  options.covariates = covariates.view();
  check_refused<gpu::unsupported>([&] { (void)gpu::spearman_all_pairs(data, options, sink); },
                                  "options.p_method: exact is not offered with options.covariates");
  options = exact();
  options.fold = gpu::row_folding::always;
  check_refused<gpu::unsupported>(
      [&] { (void)gpu::spearman_all_pairs(data, options, sink); },
      "options.fold: always is not offered with options.p_method exact");
  check_refused<gpu::unsupported>([&] { (void)gpu::max_t(gpu::measure::spearman, data, exact()); },
                                  "options.p_method: exact is not offered for max-T");
  options = exact();
  options.p_method = static_cast<gpu::p_method>(7);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, options, sink), gpu::invalid_argument);
}
