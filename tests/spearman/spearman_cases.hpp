#pragma once
// The cases of Spearman beside those of every measure: exact cuts, long columns, literals, real
// data.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "spearman/spearman_measure.hpp"
#include "support/data_files.hpp"
#include "support/pair_cases.hpp"
#include "support/skip.hpp"

namespace gpu_test {

template <class T>
gpu::matrix<T> read_numbers(const std::filesystem::path& file, gpu::index_t rows,
                            gpu::index_t cols) {
  gpu::matrix<T> out(rows, cols);
  std::ifstream in(file);
  for (gpu::index_t i = 0; i < rows * cols; ++i) {
    double value = 0;
    in >> value;
    out.data()[i] = static_cast<T>(value);
  }
  REQUIRE(in);
  return out;
}

/// Rows are random permutations, so that rho = S / N with one N for all and cuts are met exactly.
inline gpu::matrix<std::int32_t> permutation_rows(gpu::index_t rows, gpu::index_t cols,
                                                  std::uint64_t seed) {
  gpu::matrix<std::int32_t> out(rows, cols);
  std::mt19937_64 engine(seed);
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::iota(out.row(i).begin(), out.row(i).end(), 0);
    std::shuffle(out.row(i).begin(), out.row(i).end(), engine);
  }
  return out;
}

/// rho = k/10, k/20 and so on meet the cut that is the double of the same fraction.
inline void decimal_cuts_are_met_exactly(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {4, 5, 6, 9, 16, 25}) {
    const auto data = permutation_rows(140, cols, static_cast<std::uint64_t>(cols));
    std::vector<std::vector<std::int64_t>> u;
    for (gpu::index_t i = 0; i < data.rows(); ++i) {
      u.push_back(reference_ranks(data.row(i).data(), cols));
    }
    const std::int64_t norm = reference_product(u[0], u[0]);
    for (std::int64_t hundredths = 5; hundredths <= 100; hundredths += 5) {
      INFO("cols " << cols << ", cut " << hundredths << "/100");
      std::uint64_t both = 0;
      std::uint64_t positive = 0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        for (std::size_t j = i + 1; j < u.size(); ++j) {
          const std::int64_t product = reference_product(u[i], u[j]);
          both += 100 * std::abs(product) >= hundredths * norm;
          positive += 100 * product >= hundredths * norm;
        }
      }
      const double cut = static_cast<double>(hundredths) / 100;
      const auto count = [&](const gpu::pair_filter& keep) {
        return gpu::spearman_all_pairs(data.view(), target.options(), gpu::count_sink{.keep = keep})
            .kept;
      };
      const auto list = [&](const gpu::pair_filter& keep) {
        return gpu::spearman_all_pairs(data.view(), target.options(), gpu::edge_sink{.keep = keep})
            .edges.size();
      };
      CHECK(count({.min_abs = cut}) == both);
      CHECK(list({.min_abs = cut}) == both);
      CHECK(count({.min_abs = cut, .side = gpu::tail::greater}) == positive);
      CHECK(list({.min_abs = cut, .side = gpu::tail::less}) == both - positive);
    }
  }
}

/// A cut on p that is the p of a pair keeps that pair and all that are as strong.
inline void the_p_of_a_pair_keeps_that_pair(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(60, 15, 31);
  const auto pairs = reference_pairs(reference_spearman(const_view(data)));
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (std::size_t e = 0; e < pairs.size(); e += 97) {
      const double p = gpu::correlation_p_value(pairs[e].statistic, 15, side);
      if (p <= 0) continue;
      const double key = reference_key(pairs[e].statistic, side);
      const auto wanted = static_cast<std::uint64_t>(
          std::count_if(pairs.begin(), pairs.end(), [&](const reference_pair& other) {
            return reference_key(other.statistic, side) >= key;
          }));
      const gpu::count_sink sink{.keep = {.max_p = p, .side = side}};
      CHECK(gpu::spearman_all_pairs(data.view(), target.options(), sink).kept == wanted);
    }
  }
}

/// Around the widths where ranks and sums need more bits.
inline void long_columns_stay_exact(const pair_target& target) {
  GPU_TEST_INFO(target);
  check_dense<spearman_measure>(const_view(random_matrix<double>(6, 1000, 32)), target);
  for (const gpu::index_t cols : {1290, 1860, 1861, 2500}) {
    INFO("cols " << cols);
    gpu::matrix<double> data = random_matrix<double>(5, cols, 33);
    for (gpu::index_t k = 0; k < cols; ++k) {
      data(0, k) = static_cast<double>(k);  // the largest sums there are
      data(1, k) = static_cast<double>(-k);
    }
    check_dense<spearman_measure>(const_view(data), target);
  }
}

/// Columns beyond 16-bit ranks; the oracle by counting would take too long, the ranks are known.
inline void very_long_columns_stay_exact(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t cols = 40'000;
  const auto data = permutation_rows(4, cols, 34);
  gpu::matrix<double> wide(5, cols);
  for (gpu::index_t i = 0; i < 4; ++i) {
    std::copy(data.row(i).begin(), data.row(i).end(), wide.row(i).begin());
  }
  for (gpu::index_t k = 0; k < cols; ++k) wide(4, k) = -0.5 * data(0, k);
  const auto got = gpu::spearman_all_pairs(wide.view(), target.options());
  const double norm =
      static_cast<double>(cols) * (static_cast<double>(cols) * static_cast<double>(cols) - 1) / 3;
  for (gpu::index_t i = 0; i < 4; ++i) {
    for (gpu::index_t j = 0; j < i; ++j) {
      std::int64_t product = 0;
      for (gpu::index_t k = 0; k < cols; ++k) {
        product += std::int64_t{2 * data(i, k) + 1 - 40'000} * (2 * data(j, k) + 1 - 40'000);
      }
      CHECK(got(i, j) == static_cast<double>(product) / norm);
    }
  }
  CHECK(got(0, 4) == -1.0);
}

/// scipy.stats.spearmanr 1.17.
inline void equals_scipy(const pair_target& target) {
  GPU_TEST_INFO(target);
  const std::vector<std::int32_t> values{3, 1, 4, 1, 5, 9, 2, 6, 5, 3,   //
                                         2, 7, 1, 8, 2, 8, 1, 8, 2, 8,   //
                                         1, 2, 3, 4, 5, 6, 7, 8, 9, 10,  //
                                         0, 0, 0, 5, 0, 0, 1, 0, 0, 2};
  struct literal {
    double rho, two_sided, greater, less;
  };
  const std::vector<literal> wanted{
      {0.13471506281091267, 0.7106008805223829, 0.35530044026119145, 0.6446995597388085},
      {0.39145378315603935, 0.2632875529923413, 0.13164377649617065, 0.8683562235038293},
      {-0.5869807332814502, 0.07442956597263409, 0.9627852170136829, 0.037214782986317044},
      {0.2860387767736777, 0.42302039244413586, 0.21151019622206793, 0.7884898037779321},
      {0.26590104158196354, 0.45775144061881995, 0.22887572030940997, 0.77112427969059},
      {0.29081003317657983, 0.41497737405910445, 0.20748868702955223, 0.7925113129704477}};
  const gpu::matrix_view<const std::int32_t> data(values.data(), 4, 10);
  const auto edges_of = [&](gpu::tail side) {
    return gpu::spearman_all_pairs(data, target.options(), gpu::edge_sink{.keep = {.side = side}})
        .edges;
  };
  const auto two_sided = edges_of(gpu::tail::two_sided);
  const auto greater = edges_of(gpu::tail::greater);
  const auto less = edges_of(gpu::tail::less);
  REQUIRE(two_sided.size() == wanted.size());
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    CHECK(two_sided[e].statistic == Approx(wanted[e].rho).epsilon(1e-14));
    CHECK(two_sided[e].p == Approx(wanted[e].two_sided).epsilon(1e-12));
    CHECK(greater[e].p == Approx(wanted[e].greater).epsilon(1e-12));
    CHECK(less[e].p == Approx(wanted[e].less).epsilon(1e-12));
  }
}

struct known_answer {
  gpu::pair_filter keep;
  std::uint64_t kept;
  std::uint64_t sum;  // of row * rows + col over kept pairs, modulo 2^64; 0: not known
};

template <class T>
void check_known_answers(const gpu::matrix<T>& data, const pair_target& target,
                         const std::vector<known_answer>& answers) {
  for (const known_answer& answer : answers) {
    INFO("max_p " << answer.keep.max_p << ", min_abs " << answer.keep.min_abs << ", adjust "
                  << static_cast<int>(answer.keep.adjust));
    const auto counts = gpu::spearman_all_pairs(data.view(), target.options(),
                                                gpu::count_sink{.keep = answer.keep});
    CHECK(counts.kept == answer.kept);
    if (answer.sum == 0) continue;
    std::uint64_t sum = 0;
    const auto summary = gpu::spearman_all_pairs(
        data.view(), target.options(),
        gpu::stream_sink{.keep = answer.keep, .consume = [&](std::span<const gpu::edge> batch) {
                           for (const gpu::edge& e : batch) {
                             sum += std::uint64_t{e.row} * static_cast<std::uint64_t>(data.rows()) +
                                    e.col;
                           }
                         }});
    CHECK(sum == answer.sum);
    CHECK(summary.pairs_kept == answer.kept);
  }
}

template <class T>
std::uint32_t largest_degree(const gpu::matrix<T>& data, const pair_target& target, double max_p) {
  const auto counts = gpu::spearman_all_pairs(data.view(), target.options(),
                                              gpu::count_sink{.keep = {.max_p = max_p}});
  return *std::max_element(counts.degree.begin(), counts.degree.end());
}

inline gpu::pair_filter adjusted(gpu::adjustment adjust) {
  return {.max_p = 0.05, .adjust = adjust};
}

/// Gene expression with few ties.
inline void known_answers_of_gene_expression(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto file = find_data_file("golub.tsv");
  if (!file) {
    note_skip(missing::data, "known answers of golub.tsv");
    return;
  }
  const auto data = read_numbers<double>(*file, 3051, 38);
  check_known_answers(data, target,
                      {{{.max_p = 0.05}, 879588, 2720987703967},
                       {{.max_p = 0.001}, 139590, 442201467785},
                       {{.max_p = 1e-6}, 9236, 0},
                       {adjusted(gpu::adjustment::bonferroni), 2468, 8862005514},
                       {adjusted(gpu::adjustment::benjamini_hochberg), 194828, 0},
                       {{.min_abs = 0.8}, 1659, 0},
                       {{.min_abs = 1.0}, 3, 0}});
  CHECK(largest_degree(data, target, 0.001) == 477);
  const gpu::matrix_view<const double> first_two(data.data(), 2, 38);
  CHECK(gpu::spearman_all_pairs(first_two, target.options())(0, 1) ==
        Approx(0.2163256374).epsilon(1e-9));
}

/// Image pixels, integers with very many ties.
inline void known_answers_of_image_pixels(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto file = find_data_file("fashion_5000x30.txt");
  if (!file) {
    note_skip(missing::data, "known answers of fashion_5000x30.txt");
    return;
  }
  const auto data = read_numbers<std::uint8_t>(*file, 5000, 30);
  // Benjamini-Hochberg: 5,528,728 as scipy.stats.false_discovery_control of all p.
  check_known_answers(data, target,
                      {{{.max_p = 0.05}, 6554845, 54326961822167},
                       {{.max_p = 0.001}, 3182212, 26421216136289},
                       {{.max_p = 1e-6}, 978696, 0},
                       {adjusted(gpu::adjustment::bonferroni), 342810, 2821005730477},
                       {adjusted(gpu::adjustment::benjamini_hochberg), 5528728, 0},
                       {{.min_abs = 0.8}, 654186, 0},
                       {{.min_abs = 1.0}, 8, 0}});
  CHECK(largest_degree(data, target, 0.001) == 3142);
}

}  // namespace gpu_test
