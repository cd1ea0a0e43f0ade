#pragma once
// Cases of Kendall's tau-b: every sink beside an oracle that decides each pair by its own p.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/error.hpp>
#include <gpu/observations.hpp>
#include <gpu/p_value.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/kendall_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

/// Rows of every kind: normal ones that move together, rounded ones, counts that are mostly zero,
/// two values alone, copies and opposites, one constant.
template <class T>
gpu::matrix<T> mixed_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  const auto noise = random_matrix<double>(rows, cols, seed);
  const auto common = random_matrix<double>(4, cols, seed + 1);
  const auto zeros = tied_matrix<double>(rows, cols, seed + 2);
  gpu::matrix<T> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      double x = 100 * (noise(i, k) + common(i % 4, k));
      if (i % 5 == 1) x = std::round(x / 80);
      if (i % 5 == 2) x = zeros(i, k);
      if (i % 5 == 3) x = x > 90 ? 1 : 0;
      if (i % 11 == 10) x = -static_cast<double>(out(i - 10, k));
      if (i == 7) x = 3;
      out(i, k) = static_cast<T>(std::is_integral_v<T> ? std::clamp(x, -120.0, 120.0) : x);
    }
  }
  return out;
}

/// A pair as the definition has it: tau and p by the oracle's counts, p of the library's function.
struct kendall_pair {
  gpu::node_id row;
  gpu::node_id col;
  double tau;
  double p;
};

template <class T>
std::vector<kendall_pair> every_pair(gpu::matrix_view<const T> x, gpu::matrix_view<const T> y,
                                     bool is_against, gpu::tail side) {
  const auto of_x = gpu::kendall_ties(x);
  const auto of_y = gpu::kendall_ties(y);
  std::vector<kendall_pair> out;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t j = is_against ? 0 : i + 1; j < y.rows(); ++j) {
      const double tau = reference_tau(x.row(i), y.row(j), x.cols());
      if (std::isnan(tau)) continue;
      const double p = gpu::kendall_p_value(tau, x.cols(), of_x[static_cast<std::size_t>(i)],
                                            of_y[static_cast<std::size_t>(j)], side);
      out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), tau, p});
    }
  }
  return out;
}

template <class T>
std::vector<kendall_pair> every_pair(gpu::matrix_view<const T> data, gpu::tail side) {
  return every_pair(data, data, false, side);
}

/// What `keep` keeps of `all`, the pairs of the tail keep.side, with p up to `max_p`.
inline std::vector<kendall_pair> kept_of(const std::vector<kendall_pair>& all,
                                         const gpu::pair_filter& keep, double max_p) {
  std::vector<kendall_pair> out;
  for (const kendall_pair& pair : all) {
    const bool is_strong = keep.min_abs == 0 || reference_key(pair.tau, keep.side) >= keep.min_abs;
    if (is_strong && pair.p <= max_p) out.push_back(pair);
  }
  return out;
}

inline void check_kept(std::span<const gpu::edge> got, const std::vector<kendall_pair>& wanted) {
  REQUIRE(got.size() == wanted.size());
  const bool all_same = std::equal(
      got.begin(), got.end(), wanted.begin(), [](const gpu::edge& e, const kendall_pair& w) {
        return e.row == w.row && e.col == w.col && e.statistic == w.tau && e.p == w.p;
      });
  CHECK(all_same);
}

/// The p that Benjamini and Hochberg reject, by the textbook: all up to this one; -1 where none is.
inline double rejected_up_to(const std::vector<kendall_pair>& all, double alpha) {
  std::vector<double> p;
  for (const kendall_pair& pair : all) p.push_back(pair.p);
  std::sort(p.begin(), p.end());
  for (std::size_t k = p.size(); k > 0; --k) {
    if (p[k - 1] <= alpha * static_cast<double>(k) / static_cast<double>(p.size())) return p[k - 1];
  }
  return -1;
}

template <class T>
void check_dense_kendall(gpu::matrix_view<const T> data, const pair_target& target) {
  const statistic_table wanted = reference_kendall(data);
  const auto got = gpu::kendall_all_pairs(data, target.options());
  const auto floats =
      gpu::kendall_all_pairs(data, target.options(), gpu::basic_dense_sink<float>{});
  bool all_same = true;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = 0; j < data.rows(); ++j) {
      const double own = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (std::isnan(own)) {
        all_same &= std::isnan(got(i, j)) && std::isnan(floats(i, j));
      } else {
        all_same &= got(i, j) == own && floats(i, j) == static_cast<float>(own);
      }
    }
  }
  CHECK(all_same);
}

inline void kendall_of_every_length(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {3,  4,  5,  11, 12, 16,  17,  30,  31,  33,  34,  63,
                                  64, 65, 66, 91, 92, 127, 128, 129, 130, 181, 182, 300}) {
    INFO(cols << " columns");
    check_dense_kendall(const_view(mixed_rows<float>(37, cols, 3)), target);
    check_dense_kendall(const_view(mixed_rows<std::int8_t>(23, cols, 4)), target);
  }
  check_dense_kendall(const_view(mixed_rows<double>(40, 513, 5)), target);
  check_dense_kendall(const_view(mixed_rows<std::uint16_t>(12, 2048, 5)), target);
  if (target.where == gpu::backend::cuda) return;  // which takes no longer rows
  check_dense_kendall(const_view(mixed_rows<double>(12, 2049, 6)), target);
  check_dense_kendall(const_view(mixed_rows<float>(2, 33'001, 7)), target);
}

/// Tables whose rows fill tiles, blocks and groups, or just do not.
inline void kendall_of_every_height(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t rows : {0, 1, 2, 8, 9, 31, 33, 64, 65, 129, 515}) {
    INFO(rows << " rows");
    check_dense_kendall(const_view(random_matrix<float>(rows, 13, 3)), target);
    check_dense_kendall(const_view(tied_matrix<std::uint8_t>(rows, 13, 4)), target);
  }
}

inline void kendall_adjusts_its_own_p(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {8, 25, 60}) {
    const auto data = mixed_rows<double>(70, cols, static_cast<std::uint64_t>(cols));
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      const auto all = every_pair(const_view(data), side);
      const auto family = static_cast<double>(all.size());
      for (const double alpha : {0.3, 0.05, 1e-6, 1.0}) {
        INFO(cols << " columns, tail " << static_cast<int>(side) << ", alpha " << alpha);
        const auto edges_of = [&](gpu::adjustment adjust) {
          return gpu::kendall_all_pairs(
              data.view(), target.options(),
              gpu::edge_sink{.keep = {.max_p = alpha, .side = side, .adjust = adjust}});
        };
        const auto bonferroni = edges_of(gpu::adjustment::bonferroni);
        check_kept(bonferroni.edges, kept_of(all, {.side = side}, alpha / family));
        CHECK(bonferroni.summary.max_p_effective == alpha / family);
        const auto hochberg = edges_of(gpu::adjustment::benjamini_hochberg);
        check_kept(hochberg.edges, kept_of(all, {.side = side}, rejected_up_to(all, alpha)));
      }
    }
  }
}

/// Whether a partner stands before another.
inline bool is_before(const kendall_pair& a, const kendall_pair& b, gpu::neighbor_order order,
                      gpu::tail side) {
  const double x = reference_partner_key(a.tau, order, side);
  const double y = reference_partner_key(b.tau, order, side);
  return x != y ? x > y : a.col < b.col;
}

inline void kendall_partners_are_the_best(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = mixed_rows<float>(60, 21, 12);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    const auto all = every_pair(const_view(data), const_view(data), true, side);
    for (const auto order :
         {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
      for (const double max_p : {1.0, 0.2, 1e-3}) {
        INFO("tail " << static_cast<int>(side) << ", max_p " << max_p);
        const gpu::top_k_sink sink{.k = 4, .keep = {.max_p = max_p, .side = side}, .order = order};
        const auto got = gpu::kendall_all_pairs(data.view(), target.options(), sink);
        for (gpu::node_id i = 0; i < 60; ++i) {
          std::vector<kendall_pair> own;
          for (const kendall_pair& pair : all) {
            const bool has_sign =
                side == gpu::tail::two_sided || reference_key(pair.tau, side) >= 0;
            if (pair.row == i && pair.col != i && pair.p <= max_p && has_sign) own.push_back(pair);
          }
          std::sort(own.begin(), own.end(),
                    [&](const auto& a, const auto& b) { return is_before(a, b, order, side); });
          own.resize(std::min<std::size_t>(own.size(), 4));
          REQUIRE(got.count[i] == own.size());
          for (std::size_t e = 0; e < own.size(); ++e) {
            CHECK(got.index(i, static_cast<gpu::index_t>(e)) == own[e].col);
            CHECK(got.statistic(i, static_cast<gpu::index_t>(e)) == own[e].tau);
          }
        }
      }
    }
  }
}

/// q of partners is that of the list of all edges.
inline void kendall_partners_have_q(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = mixed_rows<float>(50, 30, 2);
  const gpu::pair_filter keep{.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto got =
      gpu::kendall_all_pairs(data.view(), target.options(),
                             gpu::top_k_sink{.k = 3, .keep = keep, .q = gpu::neighbor_q::exact});
  const auto all = every_pair(const_view(data), gpu::tail::two_sided);
  std::vector<double> p;
  for (const kendall_pair& pair : all) p.push_back(pair.p);
  const std::vector<double> q =
      gpu::adjusted_p_values(std::span<const double>(p), p.size(), keep.adjust);
  for (gpu::node_id i = 0; i < 50; ++i) {
    for (gpu::index_t e = 0; e < got.count[i]; ++e) {
      const gpu::node_id a = std::min(i, got.index(i, e));
      const gpu::node_id b = std::max(i, got.index(i, e));
      const auto at = std::find_if(all.begin(), all.end(), [&](const kendall_pair& pair) {
        return pair.row == a && pair.col == b;
      });
      REQUIRE(at != all.end());
      CHECK(got.q(i, e) == q[static_cast<std::size_t>(at - all.begin())]);
    }
  }
}

/// Benjamini and Hochberg's cut of a job in parts is that of the whole.
inline void kendall_discoveries_of_parts(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = mixed_rows<float>(90, 26, 21);
  const gpu::pair_filter keep{.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto whole =
      gpu::kendall_all_pairs(data.view(), target.options(), gpu::edge_sink{.keep = keep});
  gpu::discovery_sink sink{.keep = {.max_p = 0.05}};
  for (int pass = 0; !sink.search || !sink.search->is_decided(); ++pass) {
    REQUIRE(pass < 20);
    std::optional<gpu::discovery_counts> sum;
    for (gpu::index_t part = 0; part < 3; ++part) {
      gpu::pair_options options = target.options();
      options.part = {.index = part, .of = 3};
      const auto counts = gpu::kendall_all_pairs(data.view(), options, sink);
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

inline void kendall_of_missing_values(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = mixed_rows<double>(20, 15, 4);
  data(3, 4) = data(11, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(gpu::kendall_all_pairs(data.view(), target.options(), gpu::count_sink{}),
                  gpu::invalid_argument);
  gpu::pair_options options = target.options();
  options.nans = gpu::nan_policy::propagate;
  const gpu::edge_sink sink{.keep = {.max_p = 0.4}};
  const auto got = gpu::kendall_all_pairs(data.view(), options, sink);
  check_kept(got.edges,
             kept_of(every_pair(const_view(data), gpu::tail::two_sided), sink.keep, 0.4));
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{3, 11});
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{7});
}

/// An increasing change of a row changes nothing; a decreasing one changes the sign alone.
inline void kendall_knows_order_alone(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {14, 70, 2048, 2100}) {
    if (target.where == gpu::backend::cuda && cols > 2048) continue;
    auto data = mixed_rows<double>(24, cols, 31);
    const auto before = gpu::kendall_all_pairs(data.view(), target.options(), gpu::edge_sink{});
    const auto change = [](gpu::index_t i, double x) {
      if (i % 3 == 1) return std::atan(x / 1000) * 7 - 2;
      return i % 3 == 2 ? -x : x;
    };
    for (gpu::index_t i = 0; i < 24; ++i) {
      for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = change(i, data(i, k));
    }
    const auto after = gpu::kendall_all_pairs(data.view(), target.options(), gpu::edge_sink{});
    REQUIRE(after.edges.size() == before.edges.size());
    for (std::size_t e = 0; e < after.edges.size(); ++e) {
      const gpu::edge& was = before.edges[e];
      const bool is_turned = (was.row % 3 == 2) != (was.col % 3 == 2);
      CHECK(after.edges[e].statistic == (is_turned ? -was.statistic : was.statistic));
      CHECK(after.edges[e].p == was.p);
    }
  }
}

/// Jobs of a drawn shape, sink and part, beside the oracle.
inline void kendall_of_drawn_jobs(const pair_target& target, std::uint64_t seed, int jobs) {
  GPU_TEST_INFO(target);
  std::mt19937_64 engine(seed);
  const auto draw = [&](std::uint64_t below) { return engine() % below; };
  for (int job = 0; job < jobs; ++job) {
    const auto rows = static_cast<gpu::index_t>(1 + draw(140));
    const auto cols = static_cast<gpu::index_t>(3 + draw(draw(4) == 0 ? 600 : 50));
    const bool is_against = draw(3) == 0;
    const auto side = static_cast<gpu::tail>(draw(3));
    const double max_p = std::pow(10.0, -static_cast<double>(draw(60)) / 10);
    INFO("seed " << seed << ", job " << job << ": [" << rows << ", " << cols << "], tail "
                 << static_cast<int>(side) << ", max_p " << max_p);
    const auto x = draw(2) == 0 ? mixed_rows<float>(rows, cols, engine())
                                : tied_matrix<float>(rows, cols, engine(), 0.9, 3);
    const auto y = mixed_rows<float>(static_cast<gpu::index_t>(1 + draw(90)), cols, engine());
    const gpu::edge_sink sink{
        .keep = {.max_p = max_p, .min_abs = draw(3) == 0 ? 0.25 : 0.0, .side = side}};
    gpu::pair_options options = target.options();
    options.exec.cpu_threads = static_cast<int>(1 + draw(3));
    const auto all = is_against ? every_pair(const_view(x), const_view(y), true, side)
                                : every_pair(const_view(x), side);
    const auto parts = static_cast<gpu::index_t>(1 + draw(4));
    std::vector<gpu::edge> got;
    std::uint64_t counted = 0;
    for (gpu::index_t part = 0; part < parts; ++part) {
      options.part = {.index = part, .of = parts};
      const auto run = [&](const auto& asked) {
        return is_against ? gpu::kendall_all_pairs(x.view(), y.view(), options, asked)
                          : gpu::kendall_all_pairs(x.view(), options, asked);
      };
      const auto some = run(sink).edges;
      got.insert(got.end(), some.begin(), some.end());
      counted += run(gpu::count_sink{.keep = sink.keep}).kept;
    }
    check_kept(got, kept_of(all, sink.keep, max_p));
    CHECK(counted == got.size());
  }
}

/// The edge of a cut is kept, the next smaller cut drops it.
inline void kendall_cuts_at_a_pair(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {12, 33, 34, 40, 90}) {
    const auto data = mixed_rows<float>(40, cols, 77);
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      const auto all = every_pair(const_view(data), side);
      for (std::size_t e = 0; e < all.size(); e += 37) {
        for (const double max_p : {all[e].p, std::nextafter(all[e].p, 0.0)}) {
          if (!(max_p > 0)) continue;
          const gpu::edge_sink sink{.keep = {.max_p = max_p, .side = side}};
          check_kept(gpu::kendall_all_pairs(data.view(), target.options(), sink).edges,
                     kept_of(all, sink.keep, max_p));
        }
      }
    }
  }
}

inline void run_kendall_cases(const pair_target& target) {
  SECTION("every length of rows") {
    kendall_of_every_length(target);
  }
  SECTION("every number of rows") {
    kendall_of_every_height(target);
  }
  SECTION("adjustments") {
    kendall_adjusts_its_own_p(target);
  }
  SECTION("partners") {
    kendall_partners_are_the_best(target);
    kendall_partners_have_q(target);
  }
  SECTION("x against y, prepared rows and parts") {
    kendall_discoveries_of_parts(target);
  }
  SECTION("missing values") {
    kendall_of_missing_values(target);
  }
  SECTION("order alone counts") {
    kendall_knows_order_alone(target);
  }
  SECTION("the edge of a cut") {
    kendall_cuts_at_a_pair(target);
  }
  SECTION("drawn jobs") {
    kendall_of_drawn_jobs(target, 20, 60);
  }
}

}  // namespace gpu_test
