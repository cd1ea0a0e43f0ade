#pragma once
// The cases of Pearson beside those of every measure: conditioning, infinities, literals, real
// data.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "pearson/pearson_measure.hpp"
#include "support/data_files.hpp"
#include "support/pair_cases.hpp"
#include "support/skip.hpp"

namespace gpu_test {

/// Large means, tiny and huge scales: what the one-pass formula loses.
inline void ill_conditioned_rows_keep_their_digits(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {3, 30, 100, 1000}) {
    const auto base = random_matrix<double>(12, cols, static_cast<std::uint64_t>(cols));
    gpu::matrix<double> data = base.clone();
    for (gpu::index_t k = 0; k < cols; ++k) {
      data(1, k) += 1e6;
      data(2, k) = data(2, k) * 0x1p-900;
      data(3, k) = data(3, k) * 0x1p+1000;
      data(4, k) = data(4, k) * 0x1p-1060;  // subnormal, few digits left
      data(5, k) = base(0, k) * 3 + 17;
      data(6, k) = -base(0, k);
    }
    check_dense<pearson_measure>(const_view(data), target);
    const auto r = gpu::pearson_all_pairs(data.view(), target.options());
    CHECK(r(0, 5) == Approx(1.0).epsilon(2e-6));
    CHECK(r(0, 6) == Approx(-1.0).epsilon(2e-6));
  }
}

inline void an_infinite_row_has_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = random_matrix<double>(20, 30, 41);
  data(7, 4) = std::numeric_limits<double>::infinity();
  data(9, 0) = -std::numeric_limits<double>::infinity();
  const auto got = gpu::pearson_all_pairs(data.view(), target.options(), gpu::edge_sink{});
  CHECK(got.summary.constant_rows.empty());
  CHECK(got.summary.infinite_rows == std::vector<gpu::index_t>{7, 9});
  check_edges<pearson_measure>(got.edges, reference_pairs(reference_pearson(const_view(data))), 30,
                               gpu::tail::two_sided);
}

/// Rows of as many -1 as 1, each twice: in low precision all elements of their unit rows are off by
/// the same share, so that estimates of r are as far off as they can be. Few pairs reach the cuts,
/// which are the r of some pair.
inline void rows_that_round_alike_lose_no_edge(const pair_target& reference,
                                               const pair_target& target) {
  GPU_TEST_INFO(target);
  for (gpu::index_t cols = 4; cols <= 64; cols += 2) {
    constexpr gpu::index_t patterns = 150;
    gpu::matrix<float> data(2 * patterns, cols);
    std::mt19937 engine(static_cast<unsigned>(cols));
    for (gpu::index_t i = 0; i < patterns; ++i) {
      for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = k % 2 == 0 ? 1.0F : -1.0F;
      std::shuffle(&data(i, 0), &data(i, 0) + cols, engine);
      std::copy_n(&data(i, 0), cols, &data(i + patterns, 0));
    }
    const auto edges = [&](const pair_target& where, double cut) {
      const gpu::edge_sink sink{.keep = {.min_abs = cut, .side = gpu::tail::greater}};
      return gpu::pearson_all_pairs(data.view(), where.options(), sink).edges;
    };
    std::vector<double> found;
    for (const gpu::edge& e : edges(reference, 0.0)) found.push_back(e.statistic);
    std::sort(found.begin(), found.end(), std::greater<>());
    const double few = found[found.size() / 25];
    for (const double at : {found[patterns - 1], few}) {
      for (const double cut : {at, std::nextafter(at, 0.0), std::nextafter(at, 1.0)}) {
        CAPTURE(cols, cut);
        CHECK(edges(target, cut) == edges(reference, cut));
      }
    }
  }
}

/// From three rows, whose slices are added up apart, to as many as share whole tiles. `plain` adds
/// up pair by pair, as the definition says.
inline void rows_of_slices_have_one_sum(
    const pair_target& plain, const pair_target& target,
    const std::vector<std::pair<gpu::index_t, gpu::index_t>>& shapes = {
        {3, 16'384}, {3, 16'385}, {5, 20'480}, {20, 36'873}, {70, 20'490}}) {
  GPU_TEST_INFO(target);
  for (const auto& [rows, cols] : shapes) {
    CAPTURE(rows, cols);
    auto data = random_matrix<double>(rows, cols, static_cast<std::uint64_t>(cols));
    for (gpu::index_t k = 0; k < cols; ++k) {
      data(1, k) = data(0, k) + 0.1 * data(1, k) + 100;
      data(2, k) += 3;
    }
    data(2, 7) *= 0x1p-950;  // its sum cannot be scaled afterwards
    if (rows > 4) {
      for (gpu::index_t k = 0; k < cols; ++k) data(3, k) = (data(3, k) + 9) * 0x1p+1000;
      for (gpu::index_t k = 0; k < cols; ++k) data(4, k) *= 0x1p-1040;  // subnormal
    }
    const auto edges = [&](const pair_target& where, double cut) {
      const gpu::edge_sink sink{.keep = {.min_abs = cut}};
      return gpu::pearson_all_pairs(data.view(), where.options(), sink).edges;
    };
    const auto wanted = edges(plain, 0);
    CHECK(edges(target, 0) == wanted);
    for (const std::size_t at : {std::size_t{0}, wanted.size() / 2}) {
      const double cut = std::abs(wanted[at].statistic);
      const auto counted = gpu::pearson_all_pairs(data.view(), target.options(),
                                                  gpu::count_sink{.keep = {.min_abs = cut}});
      CHECK(counted.kept == static_cast<std::uint64_t>(std::count_if(
                                wanted.begin(), wanted.end(),
                                [=](const gpu::edge& e) { return std::abs(e.statistic) >= cut; })));
    }
    if (rows > 20 || cols > 100'000) continue;
    check_edges<pearson_measure>(edges(target, 0),
                                 reference_pairs(reference_pearson(const_view(data))), cols,
                                 gpu::tail::two_sided);
  }
}

/// scipy.stats.pearsonr 1.17.
inline void pearson_equals_scipy(const pair_target& target) {
  GPU_TEST_INFO(target);
  const std::vector<std::int32_t> values{3, 1, 4, 1, 5, 9, 2, 6, 5, 3,   //
                                         2, 7, 1, 8, 2, 8, 1, 8, 2, 8,   //
                                         1, 2, 3, 4, 5, 6, 7, 8, 9, 10,  //
                                         0, 0, 0, 5, 0, 0, 1, 0, 0, 2};
  struct literal {
    double r, two_sided, greater, less;
  };
  const std::vector<literal> wanted{
      {0.10492284287735881, 0.7729913615627264, 0.3864956807813632, 0.6135043192186368},
      {0.33432539901899483, 0.3450710477331118, 0.1725355238665559, 0.8274644761334441},
      {-0.505625786236669, 0.1359798562132969, 0.9320100718933516, 0.06798992810664839},
      {0.21675700090726713, 0.5475006298387037, 0.27375031491935187, 0.7262496850806481},
      {0.40319136717432397, 0.24795314088090642, 0.12397657044045321, 0.8760234295595468},
      {0.0679889413649005, 0.8519597706064951, 0.42597988530324754, 0.5740201146967524}};
  const gpu::matrix_view<const std::int32_t> data(values.data(), 4, 10);
  const auto edges_of = [&](gpu::tail side) {
    return gpu::pearson_all_pairs(data, target.options(), gpu::edge_sink{.keep = {.side = side}})
        .edges;
  };
  const auto two_sided = edges_of(gpu::tail::two_sided);
  const auto greater = edges_of(gpu::tail::greater);
  const auto less = edges_of(gpu::tail::less);
  REQUIRE(two_sided.size() == wanted.size());
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    CHECK(two_sided[e].statistic == Approx(wanted[e].r).epsilon(1e-13));
    CHECK(two_sided[e].p == Approx(wanted[e].two_sided).epsilon(1e-12));
    CHECK(greater[e].p == Approx(wanted[e].greater).epsilon(1e-12));
    CHECK(less[e].p == Approx(wanted[e].less).epsilon(1e-12));
  }
}

inline void known_pearson_answers_of_gene_expression(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto file = find_data_file("golub.tsv");
  if (!file) {
    note_skip(missing::data, "known answers of golub.tsv");
    return;
  }
  gpu::matrix<double> data(3051, 38);
  std::ifstream in(*file);
  for (gpu::index_t i = 0; i < 3051 * 38; ++i) in >> data.data()[i];
  REQUIRE(in);
  const gpu::count_sink sink{.keep = {.max_p = 0.05}};
  CHECK(gpu::pearson_all_pairs(data.view(), target.options(), sink).kept == 831516);
}

}  // namespace gpu_test
