// The best partners of differential correlation beside the definition.
#include <gpu/differential.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gpu/error.hpp>

#include "differential/differences.hpp"
#include "support/catch.hpp"

namespace {

using namespace gpu_test::differences;

/// Sorts whole rows of the oracle's z; none of which may be so near another that rounding decides.
void check_partners(gpu::measure what, const gpu::matrix<double>& data, const groups& of,
                    const gpu::differential_top_k_sink& sink, int threads) {
  const auto all = every_pair(what, data, of, sink.keep.side);
  gpu::pair_options options;
  options.exec.cpu_threads = threads;
  const auto got = gpu::differential_pairs(what, data, of.view(), options, sink);
  REQUIRE(got.index.rows() == data.rows());
  REQUIRE(got.index.cols() == sink.k);
  std::vector<std::vector<pair_difference>> rows(static_cast<std::size_t>(data.rows()));
  for (const pair_difference& pair : kept_of(all, sink.keep, sink.keep.max_p)) {
    rows[pair.row].push_back(pair);
    rows[pair.col].push_back(pair);
  }
  std::uint64_t entries = 0;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    auto& own = rows[static_cast<std::size_t>(i)];
    std::stable_sort(own.begin(), own.end(), [&](const auto& a, const auto& b) {
      return directed_z(a, sink.keep.side) > directed_z(b, sink.keep.side);
    });
    const auto count = std::min<gpu::index_t>(sink.k, std::ssize(own));
    REQUIRE(got.count[static_cast<std::size_t>(i)] == count);
    entries += static_cast<std::uint64_t>(count);
    for (gpu::index_t e = 0; e < sink.k; ++e) {
      if (e >= count) {
        CHECK(got.index(i, e) == gpu::neighbor_table::no_neighbor);
        CHECK(std::isnan(got.z(i, e)));
        continue;
      }
      const pair_difference& wanted = own[static_cast<std::size_t>(e)];
      CHECK(got.index(i, e) == (wanted.row == i ? wanted.col : wanted.row));
      CHECK(std::abs(got.first(i, e) - wanted.first) <= 4e-15);
      CHECK(std::abs(got.second(i, e) - wanted.second) <= 4e-15);
      CHECK(std::abs(got.z(i, e) - wanted.z) <= 1e-11L * (1 + std::abs(wanted.z)));
      CHECK(std::abs(got.p(i, e) - wanted.p) <= 1e-10L * wanted.p);
    }
  }
  CHECK(got.summary.pairs_kept == entries);
  CHECK(got.summary.pairs_tested == all.size());
}

}  // namespace

TEST_CASE("differential correlation keeps the best partners of each row", "[differential]") {
  for (const gpu::measure what : measures) {
    for (const gpu::tail side : sides) {
      for (const gpu::index_t k : {1, 3, 59, 70}) {
        INFO(gpu::to_string(what) << ", tail " << static_cast<int>(side) << ", k " << k);
        const auto data = make_rows<double>(60, 61, 12);
        check_partners(what, data, some_groups(61), {.k = k, .keep = {.side = side}}, 2);
        check_partners(what, data, some_groups(61),
                       {.k = k, .keep = {.max_p = 0.31, .min_abs_z = 0.5, .side = side}}, 1);
      }
    }
  }
  check_partners(gpu::measure::pearson, make_rows<double>(2, 40, 1), some_groups(40), {.k = 2}, 1);
  check_partners(gpu::measure::pearson, make_rows<double>(0, 40, 1), some_groups(40), {.k = 2}, 1);
  // Rows of several blocks, whose partners stand in front of them and behind.
  check_partners(gpu::measure::pearson, make_rows<double>(2100, 61, 13), some_groups(61), {.k = 2},
                 3);
}

TEST_CASE("partners of equal z go to the lower row", "[differential]") {
  // Rows 1 to 5 are the same, so are their differences with row 0.
  gpu::matrix<double> data(6, 16);
  for (gpu::index_t i = 0; i < 6; ++i) {
    for (gpu::index_t k = 0; k < 16; ++k) {
      data(i, k) =
          static_cast<double>(i == 0 ? k * k % 7 : (k < 8 ? k * k % 7 + k % 3 : k * 5 % 11));
    }
  }
  const groups of{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}};
  const auto got = gpu::differential_pairs(gpu::measure::spearman, data, of.view(), {},
                                           gpu::differential_top_k_sink{.k = 3});
  for (gpu::index_t e = 0; e < 3; ++e) CHECK(got.index(0, e) == e + 1);
  CHECK(got.index(3, 0) == 0);  // of the others z is 0
  CHECK(got.index(3, 1) == 1);
  CHECK(got.index(3, 2) == 2);
  for (const gpu::adjustment adjust :
       {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    const gpu::differential_filter keep{.max_p = 0.5, .adjust = adjust};
    const auto edges = gpu::differential_pairs(gpu::measure::spearman, data, of.view(), {},
                                               gpu::differential_edge_sink{.keep = keep});
    const auto partners = gpu::differential_pairs(gpu::measure::spearman, data, of.view(), {},
                                                  gpu::differential_top_k_sink{5, keep});
    CHECK(partners.summary.pairs_kept == 2 * edges.edges.size());
    CHECK(partners.summary.max_p_effective == edges.summary.max_p_effective);
  }
  CHECK_THROWS_AS(gpu::differential_pairs(gpu::measure::spearman, data, of.view(), {},
                                          gpu::differential_top_k_sink{.k = 0}),
                  gpu::invalid_argument);
}
