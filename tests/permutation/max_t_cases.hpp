#pragma once
// Cases of the largest statistics of shuffled tables, held to the textbook in slow arithmetic: the
// CPU's and CUDA's tests run them.

#include <gpu/error.hpp>
#include <gpu/max_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reference/bicor_reference.hpp"
#include "reference/correlation_reference.hpp"
#include "reference/kendall_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

/// Statistics of all rows of a table with each other, by the oracle of a measure.
template <class T>
statistic_table reference_statistics(gpu::measure what, const gpu::matrix<T>& rows) {
  switch (what) {
    case gpu::measure::spearman:
      return reference_spearman(const_view(rows));
    case gpu::measure::pearson:
      return reference_pearson(const_view(rows));
    case gpu::measure::kendall:
      return reference_kendall(const_view(rows));
    case gpu::measure::cosine:
      return reference_cosine(const_view(rows));
    default:
      return reference_bicor(const_view(rows));
  }
}

inline std::vector<gpu::index_t> inverse_of(const std::vector<gpu::index_t>& permutation) {
  std::vector<gpu::index_t> out(permutation.size());
  for (std::size_t k = 0; k < permutation.size(); ++k) {
    out[static_cast<std::size_t>(permutation[k])] = static_cast<gpu::index_t>(k);
  }
  return out;
}

/// Column k of shuffled table `number` is column out[k], by the words of gpu/max_t.hpp.
inline std::vector<gpu::index_t> shuffled_columns(gpu::index_t cols, const gpu::max_t_options& how,
                                                  gpu::index_t number, bool is_against) {
  if (how.shuffle == gpu::column_shuffle::permutation) {
    auto columns = gpu::column_permutation(cols, how.seed, is_against ? number : number / 2);
    return !is_against && number % 2 == 1 ? inverse_of(columns) : columns;
  }
  gpu::index_t shift = 0;
  if (is_against) {
    shift = 1 + gpu::column_permutation(cols - 1, how.seed, 0)[static_cast<std::size_t>(number)];
  } else if (cols % 2 == 0 && number == cols - 2) {
    shift = cols / 2;
  } else {
    const auto drawn = gpu::column_permutation((cols - 1) / 2, how.seed, 0);
    shift = 1 + drawn[static_cast<std::size_t>(number / 2)];
    if (number % 2 == 1) shift = cols - shift;
  }
  std::vector<gpu::index_t> out;
  for (gpu::index_t k = 0; k < cols; ++k) out.push_back((k + shift) % cols);
  return out;
}

/// The maxima, descending: one shuffled table after the other, one pair after the other.
template <class T>
std::vector<double> reference_maxima(gpu::measure what, const gpu::matrix<T>& x,
                                     const gpu::matrix<T>* y, const gpu::max_t_options& how) {
  const gpu::index_t cols = x.cols();
  const gpu::index_t others = y != nullptr ? y->rows() : x.rows();
  std::vector<double> out;
  for (gpu::index_t number = 0; number < how.permutations; ++number) {
    const auto columns = shuffled_columns(cols, how, number, y != nullptr);
    // The rows that stay as they are, behind them the shuffled ones.
    gpu::matrix<T> both(others + x.rows(), cols);
    for (gpu::index_t k = 0; k < cols; ++k) {
      for (gpu::index_t i = 0; i < others; ++i) both(i, k) = y != nullptr ? (*y)(i, k) : x(i, k);
      for (gpu::index_t i = 0; i < x.rows(); ++i) {
        both(others + i, k) = x(i, columns[static_cast<std::size_t>(k)]);
      }
    }
    const statistic_table all = reference_statistics(what, both);
    double largest = how.side == gpu::tail::two_sided ? 0 : -1;
    for (gpu::index_t i = 0; i < others; ++i) {
      for (gpu::index_t j = y != nullptr ? 0 : i + 1; j < x.rows(); ++j) {
        const double r = all[static_cast<std::size_t>(i)][static_cast<std::size_t>(others + j)];
        if (!std::isnan(r)) largest = std::max(largest, reference_key(r, how.side));
      }
    }
    out.push_back(largest);
  }
  std::sort(out.begin(), out.end(), [](double a, double b) { return a > b; });
  return out;
}

inline void check_maxima(gpu::measure what, const std::vector<double>& got,
                         const std::vector<double>& wanted) {
  REQUIRE(got.size() == wanted.size());
  double error = 0;
  for (std::size_t b = 0; b < got.size(); ++b) {
    error = std::max(error, std::fabs(got[b] - wanted[b]));
  }
  CHECK(error <= (what == gpu::measure::spearman ? 0.0 : 1e-12));
}

/// Random rows of which some are constant, tied or copies.
template <class T>
gpu::matrix<T> mixed_table(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  gpu::matrix<T> out = random_matrix<T>(rows, cols, seed);
  for (gpu::index_t k = 0; k < cols; ++k) {
    if (rows > 2) out(2, k) = static_cast<T>(5);
    if (rows > 5) out(5, k) = static_cast<T>(k % 3);
    if (rows > 7) out(7, k) = out(1, k);
  }
  return out;
}

template <class T>
void maxima_are_those_of_the_textbook(gpu::measure what, const pair_target& target,
                                      const gpu::max_t_options& how, gpu::index_t rows,
                                      gpu::index_t cols) {
  INFO("rows " << rows << ", side " << static_cast<int>(how.side) << ", "
               << gpu::to_string(how.shuffle));
  const auto x = mixed_table<T>(rows, cols, 3);
  const auto y = mixed_table<T>(9, cols, 4);
  const auto one = gpu::max_t(what, x, target.options(), how);
  CHECK(one.used == target.where);
  CHECK(one.side == how.side);
  check_maxima(what, one.maxima, reference_maxima<T>(what, x, nullptr, how));
  const auto two = gpu::max_t(what, x, y, target.options(), how);
  check_maxima(what, two.maxima, reference_maxima(what, x, &y, how));
}

template <class T>
void maxima_are_those_of_the_textbook(gpu::measure what, const pair_target& target) {
  GPU_TEST_INFO(target);
  INFO(gpu::to_string(what));
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    gpu::max_t_options how{.permutations = 8, .seed = 77, .side = side};
    for (const gpu::index_t rows : {1, 2, 3, 11, 37}) {
      how.permutations = rows == 37 ? 5 : 8;
      maxima_are_those_of_the_textbook<T>(what, target, how, rows, rows == 37 ? 24 : 7);
    }
    // Some of the shifts, and all of them.
    how.shuffle = gpu::column_shuffle::circular;
    for (const gpu::index_t cols : {7, 8}) {
      for (how.permutations = 3; how.permutations < cols; ++how.permutations) {
        maxima_are_those_of_the_textbook<T>(what, target, how, 11, cols);
      }
    }
  }
}

/// Rows with a NaN are left out, and the others have the maxima that they have alone.
inline void rows_with_a_nan_are_left_out(const pair_target& target) {
  const auto x = random_matrix<double>(20, 9, 12);
  // Behind them so many with a NaN that some would have the largest statistics.
  gpu::matrix<double> holed = random_matrix<double>(60, 9, 13);
  std::copy_n(x.data(), 20 * 9, holed.data());
  for (gpu::index_t row = 20; row < 60; ++row) holed(row, row % 9) = std::nan("");
  gpu::pair_options options = target.options();
  options.nans = gpu::nan_policy::propagate;
  for (const gpu::measure what : gpu::all_measures()) {
    if (target.where == gpu::backend::cuda && what == gpu::measure::kendall) continue;
    INFO(gpu::to_string(what));
    const gpu::max_t_options how{.permutations = 9};
    CHECK(gpu::max_t(what, holed, options, how).maxima ==
          gpu::max_t(what, x, target.options(), how).maxima);
    CHECK(gpu::max_t(what, holed, x, options, how).maxima ==
          gpu::max_t(what, x, x, target.options(), how).maxima);
    CHECK_THROWS_AS(gpu::max_t(what, holed, target.options(), how), gpu::invalid_argument);
  }
}

/// So many pairs that most are only compared with a cut, in several panels of shuffled rows.
inline void many_pairs_have_the_maxima_of_the_textbook(const pair_target& target) {
  auto x = random_matrix<std::int16_t>(140, 18, 31);
  for (gpu::index_t k = 0; k < 18; ++k) {
    for (gpu::index_t i = 60; i < 70; ++i)
      x(i, k) = static_cast<std::int16_t>(x(i, k) / 8 + x(0, k));
  }
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::less}) {
    const gpu::max_t_options how{.permutations = 21, .seed = 5, .side = side};
    const auto wanted = reference_maxima<std::int16_t>(gpu::measure::spearman, x, nullptr, how);
    check_maxima(gpu::measure::spearman,
                 gpu::max_t(gpu::measure::spearman, x, target.options(), how).maxima, wanted);
  }
}

/// Edges by the cut of a level are those of adjusted p up to it, whole and in parts.
inline void edges_by_the_cut_have_such_p(const pair_target& target) {
  auto x = random_matrix<float>(50, 14, 8);
  for (gpu::index_t k = 0; k < 14; ++k) {
    for (gpu::index_t i = 1; i < 50; i += 3) x(i, k) += 2 * x(i - 1, k);
  }
  for (const gpu::measure what : gpu::all_measures()) {
    if (target.where == gpu::backend::cuda && what == gpu::measure::kendall) continue;
    INFO(gpu::to_string(what));
    const auto null = gpu::max_t(what, x, target.options(), {.permutations = 99, .seed = 1});
    const auto all = gpu::all_pairs(what, x, target.options(), gpu::edge_sink{});
    for (const double level : {0.01, 0.05, 0.37, 1.0}) {
      std::vector<gpu::edge> wanted;
      for (const gpu::edge& e : all.edges) {
        if (null.adjusted_p(e.statistic) <= level) wanted.push_back(e);
      }
      const gpu::edge_sink sink{.keep = null.keep(level)};
      const auto got = gpu::all_pairs(what, x, target.options(), sink);
      CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.begin(), wanted.end(),
                       [](const gpu::edge& a, const gpu::edge& b) {
                         return a.row == b.row && a.col == b.col && a.statistic == b.statistic;
                       }));
      std::vector<gpu::edge> joined;
      for (gpu::index_t part = 0; part < 3; ++part) {
        gpu::pair_options options = target.options();
        options.part = {.index = part, .of = 3};
        const auto some = gpu::all_pairs(what, x, options, sink);
        joined.insert(joined.end(), some.edges.begin(), some.edges.end());
      }
      CHECK(joined.size() == wanted.size());
    }
  }
}

/// Of rows of three columns every second shuffled table has a statistic of 1: none is rare.
inline void nothing_is_rare_among_three_columns(const pair_target& target) {
  const auto x = random_matrix<double>(40, 3, 2);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    const auto null =
        gpu::max_t(gpu::measure::spearman, x, target.options(), {.permutations = 39, .side = side});
    CHECK(null.cut(0.05) == std::numeric_limits<double>::infinity());
    const gpu::pair_filter keep = null.keep(0.05);
    const auto options = target.options();
    CHECK(gpu::all_pairs(gpu::measure::spearman, x, options, gpu::edge_sink{.keep = keep})
              .edges.size() == 0);
    CHECK(gpu::all_pairs(gpu::measure::spearman, x, options, gpu::count_sink{.keep = keep}).kept ==
          0);
    const auto best =
        gpu::all_pairs(gpu::measure::spearman, x, options, gpu::top_k_sink{.k = 2, .keep = keep});
    CHECK(best.summary.pairs_kept == 0);
  }
}

}  // namespace gpu_test
