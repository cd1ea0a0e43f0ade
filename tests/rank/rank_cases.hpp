#pragma once
// What rank_rows must do, whatever the backend: run by rank_test on the CPU and by rank_cuda_test
// on a GPU.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/rank.hpp>

#include "reference/rank_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace gpu_test {

inline constexpr gpu::tie_method every_tie_method[] = {
    gpu::tie_method::average, gpu::tie_method::min, gpu::tie_method::max, gpu::tie_method::dense,
    gpu::tie_method::ordinal};

/// The variants of a backend that rank rows of `cols` elements of `element_bytes`.
inline std::vector<gpu::rank_variant> rank_variants_for(gpu::backend where, gpu::index_t cols,
                                                        std::size_t element_bytes) {
  std::vector<gpu::rank_variant> variants{gpu::rank_variant::automatic};
  if (cols <= 128) variants.push_back(gpu::rank_variant::counting);
  if (where == gpu::backend::cpu) {
    variants.push_back(gpu::rank_variant::sort);
  } else {
    if (cols <= (element_bytes > 4 ? 4096 : 8192)) {
      variants.push_back(gpu::rank_variant::block_sort);
    }
    variants.push_back(gpu::rank_variant::segmented_sort);
  }
  return variants;
}

/// Equal ranks, NaN where NaN is expected.
inline bool same_ranks(const gpu::matrix<double>& got, const gpu::matrix<double>& expected) {
  if (got.rows() != expected.rows() || got.cols() != expected.cols()) return false;
  for (gpu::index_t i = 0; i < got.rows(); ++i) {
    for (gpu::index_t j = 0; j < got.cols(); ++j) {
      const bool both_nan = std::isnan(got(i, j)) && std::isnan(expected(i, j));
      if (!both_nan && got(i, j) != expected(i, j)) return false;
    }
  }
  return true;
}

/// Every variant and tie method, both orders, against the reference.
template <class T>
void check_against_reference(gpu::backend where, gpu::matrix_view<const T> data,
                             gpu::nan_policy nans = gpu::nan_policy::reject) {
  for (const auto ties : every_tie_method) {
    for (const auto order : {gpu::rank_order::ascending, gpu::rank_order::descending}) {
      const gpu::matrix<double> expected = reference_ranks(data, ties, order);
      for (const auto variant : rank_variants_for(where, data.cols(), sizeof(T))) {
        CAPTURE(data.rows(), data.cols(), static_cast<int>(ties), static_cast<int>(order),
                static_cast<int>(variant));
        const auto ranks = gpu::rank_rows(data, {.ties = ties,
                                                 .order = order,
                                                 .nans = nans,
                                                 .variant = variant,
                                                 .exec = {.target = where}});
        CHECK(same_ranks(ranks, expected));
      }
    }
  }
}

/// Rows of which so much is 0, with values below and above, -0.0 and NaN where T has them.
template <class T>
gpu::matrix<T> rows_of_zeros(gpu::index_t cols, std::uint64_t seed) {
  constexpr double shares[] = {1, 0.99, 0.95, 0.5, 0.26, 0.24, 0.1};
  gpu::matrix<T> out(7, cols);
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<int> value(std::is_signed_v<T> ? -60 : 0, 60);
  for (gpu::index_t i = 0; i < out.rows(); ++i) {
    std::bernoulli_distribution is_zero(shares[i]);
    for (gpu::index_t j = 0; j < cols; ++j) {
      // Tied and different values; the row behind has no other sign than one.
      const auto drawn = static_cast<T>(i == 4 ? std::abs(value(engine)) : value(engine));
      out(i, j) = is_zero(engine) ? T{} : drawn;
      if constexpr (std::is_floating_point_v<T>) {
        if (out(i, j) == 0 && j % 3 == 0) out(i, j) = -T{};
        if (i % 2 == 1) out(i, j) *= static_cast<T>(1 + 1e-3 * static_cast<double>(j % 97));
      }
    }
  }
  return out;
}

/// Rows of doubles that agree in their first bits: an outlier beside values close to each other,
/// some in ties; few such values; both signs; integers; and values of which each is there often.
inline gpu::matrix<double> rows_alike_in_first_bits(gpu::index_t cols, std::uint64_t seed) {
  gpu::matrix<double> out(6, cols);
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<int> step(0, 5000);
  std::normal_distribution<double> normal;
  for (gpu::index_t j = 0; j < cols; ++j) {
    const double near_one = 1 + 0x1p-50 * step(engine);
    out(0, j) = j == cols / 3 ? -1e300 : near_one;
    out(1, j) = j % 50 == 0 ? near_one : normal(engine);
    out(2, j) = j % 2 == 0 ? near_one : -near_one;
    out(3, j) = step(engine) - 2500;
    out(4, j) = (j % 3 == 0 ? -1 : 1) * (1 + 0x1p-40 * (step(engine) % 40));
    out(5, j) = near_one;
  }
  return out;
}

inline void check_rows_alike_in_first_bits(gpu::backend where) {
  for (const gpu::index_t cols : {40, 150, 2100, 9000}) {
    const auto data = rows_alike_in_first_bits(cols, static_cast<std::uint64_t>(cols));
    check_against_reference<double>(where, data.view());
  }
}

/// Most of a row is one run of ties, wherever it stands.
template <class T>
void check_rows_of_zeros(gpu::backend where) {
  for (const gpu::index_t cols : {129, 500, 3000}) {
    auto data = rows_of_zeros<T>(cols, static_cast<std::uint64_t>(cols));
    check_against_reference<T>(where, data.view());
    if constexpr (std::is_floating_point_v<T>) {
      data(2, 7) = std::numeric_limits<T>::quiet_NaN();
      check_against_reference<T>(where, data.view(), gpu::nan_policy::propagate);
    }
  }
}

template <class T>
gpu::matrix<T> matrix_of(gpu::index_t rows, std::initializer_list<T> values) {
  const auto count = static_cast<gpu::index_t>(values.size());
  gpu::matrix<T> out(rows, count / rows);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

/// scipy.stats.rankdata(x, method, axis=1), SciPy 1.17.
template <class T>
void check_scipy_literals(gpu::backend where) {
  const auto data = matrix_of<T>(3, {3, 0, 4, 1, 0, 5, 9, 2, 6,  //
                                     0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                     9, 9, 3, 3, 9, 4, 4, 4, 1});
  const gpu::matrix<double> expected[] = {
      matrix_of<double>(3, {5, 1.5, 6,   3,   1.5, 7, 9, 4, 8,  //
                            5, 5,   5,   5,   5,   5, 5, 5, 5,  //
                            8, 8,   2.5, 2.5, 8,   5, 5, 5, 1}),
      matrix_of<double>(3, {5, 1, 6, 3, 1, 7, 9, 4, 8,  //
                            1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                            7, 7, 2, 2, 7, 4, 4, 4, 1}),
      matrix_of<double>(3, {5, 2, 6, 3, 2, 7, 9, 4, 8,  //
                            9, 9, 9, 9, 9, 9, 9, 9, 9,  //
                            9, 9, 3, 3, 9, 6, 6, 6, 1}),
      matrix_of<double>(3, {4, 1, 5, 2, 1, 6, 8, 3, 7,  //
                            1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                            4, 4, 2, 2, 4, 3, 3, 3, 1}),
      matrix_of<double>(3, {5, 1, 6, 3, 2, 7, 9, 4, 8,  //
                            1, 2, 3, 4, 5, 6, 7, 8, 9,  //
                            7, 8, 2, 3, 9, 4, 5, 6, 1})};
  for (const auto ties : every_tie_method) {
    for (const auto variant : rank_variants_for(where, data.cols(), sizeof(T))) {
      CAPTURE(static_cast<int>(ties), static_cast<int>(variant));
      const auto ranks = gpu::rank_rows(
          data.view(), {.ties = ties, .variant = variant, .exec = {.target = where}});
      CHECK(same_ranks(ranks, expected[static_cast<int>(ties)]));
    }
  }
}

/// Infinities, zeros of both signs and subnormals: SciPy 1.17 as well.
template <class T>
void check_special_values(gpu::backend where) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T tiny = std::numeric_limits<T>::denorm_min();
  constexpr T large = std::numeric_limits<T>::max();
  const auto data = matrix_of<T>(1, {large, -inf, inf, T(-0.0), 0, tiny, -tiny, inf, -inf});
  const auto expected = matrix_of<double>(1, {7, 1.5, 8.5, 4.5, 4.5, 6, 3, 8.5, 1.5});
  for (const auto variant : rank_variants_for(where, data.cols(), sizeof(T))) {
    CAPTURE(static_cast<int>(variant));
    const auto ranks = gpu::rank_rows(data.view(), {.variant = variant, .exec = {.target = where}});
    CHECK(same_ranks(ranks, expected));
  }
  check_against_reference<T>(where, data.view());
}

/// Rows of every element type and of sizes around each border of the policies.
template <class T>
void check_short_rows(gpu::backend where) {
  for (const gpu::index_t cols : {1, 2, 3, 9, 30, 32, 33, 49, 64, 65, 128, 129}) {
    const auto tied = tied_matrix<T>(cols <= 33 ? 70 : 5, cols, static_cast<std::uint64_t>(cols));
    const auto spread = random_matrix<T>(3, cols, static_cast<std::uint64_t>(cols));
    check_against_reference<T>(where, tied.view());
    check_against_reference<T>(where, spread.view());
  }
}

/// Blocks of rows of which some lie close together and some do not, and the last is not full.
template <class T>
void check_mixed_rows(gpu::backend where) {
  auto data = tied_matrix<T>(400, 30, 11);
  for (const gpu::index_t row : {5, 300, 399}) {
    for (gpu::index_t col = 0; col < 30; ++col) {
      const auto bits = static_cast<std::uint32_t>(row * 30 + col) * 2654435761U;
      data(row, col) =
          static_cast<T>(std::is_floating_point_v<T> ? static_cast<double>(bits) / 7
                                                     : static_cast<double>(bits >> 25));
    }
  }
  data(370, 0) = std::numeric_limits<T>::lowest();
  data(370, 29) = std::numeric_limits<T>::max();
  check_against_reference<T>(where, std::as_const(data).view());
}

template <class T>
void check_middle_rows(gpu::backend where) {
  for (const gpu::index_t cols : {255, 256, 257, 512, 513, 1000, 1024, 1025}) {
    const auto tied = tied_matrix<T>(2, cols, 7);
    const auto spread = random_matrix<T>(2, cols, 8);
    check_against_reference<T>(where, tied.view());
    check_against_reference<T>(where, spread.view());
  }
}

template <class T>
void check_long_rows(gpu::backend where, std::initializer_list<gpu::index_t> sizes) {
  for (const gpu::index_t cols : sizes) {
    auto data = random_matrix<T>(2, cols, 9);
    // The second row holds few distinct values: long runs.
    const auto tied = tied_matrix<T>(1, cols, 10, 0.5, 30);
    std::copy(tied.data(), tied.data() + cols, data.data() + cols);
    check_against_reference<T>(where, std::as_const(data).view());
  }
}

/// Rows that start further apart than they are long.
inline void check_strides(gpu::backend where) {
  for (const gpu::index_t cols : {30, 100, 300}) {
    const auto data = tied_matrix<int>(300, cols + 13, 12);
    const gpu::matrix_view<const int> inner(data.data() + 5, 300, cols, cols + 13);
    check_against_reference<int>(where, inner);
  }
}

inline void check_empty_inputs(gpu::backend where) {
  const gpu::execution exec{.target = where};
  const gpu::matrix_view<const float> no_rows(nullptr, 0, 5);
  const gpu::matrix_view<const float> no_cols(nullptr, 4, 0);
  CHECK(gpu::rank_rows(no_rows, {.exec = exec}).rows() == 0);
  CHECK(gpu::rank_rows(no_rows, {.exec = exec}).cols() == 5);
  CHECK(gpu::rank_rows(no_cols, {.exec = exec}).rows() == 4);
}

template <class T>
void check_nan_policies(gpu::backend where) {
  for (const gpu::index_t cols : {30, 100, 200}) {
    auto data = tied_matrix<T>(90, cols, 13);
    data(17, 3) = std::numeric_limits<T>::quiet_NaN();
    data(17, 2) = -std::numeric_limits<T>::quiet_NaN();
    data(60, cols - 1) = std::numeric_limits<T>::quiet_NaN();
    const gpu::matrix_view<const T> view = data.view();
    check_against_reference<T>(where, view, gpu::nan_policy::propagate);
    std::string message;
    try {
      static_cast<void>(gpu::rank_rows(view, {.exec = {.target = where}}));
    } catch (const gpu::invalid_argument& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find("row 17, column 2") != std::string::npos);
  }
}

/// A variant that was asked for and cannot do it says so; none takes its place.
inline void check_refused_variants(gpu::backend where) {
  const auto wide = random_matrix<double>(2, 9000, 14);
  const auto refuses = [&](gpu::rank_variant variant) {
    CHECK_THROWS_AS(gpu::rank_rows(wide.view(), {.variant = variant, .exec = {.target = where}}),
                    gpu::unsupported);
  };
  refuses(gpu::rank_variant::counting);
  refuses(gpu::rank_variant::block_sort);
  refuses(where == gpu::backend::cpu ? gpu::rank_variant::segmented_sort : gpu::rank_variant::sort);
}

}  // namespace gpu_test
