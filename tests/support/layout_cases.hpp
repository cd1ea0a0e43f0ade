#pragma once
// Cases of tables that do not stand row by row: every sink says the same bytes of them as of the
// same values row by row. For any backend.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"
#include "support/sink_bytes.hpp"
#include "support/stored_forms.hpp"

namespace gpu_test {

/// Rows with ties, equal rows and a constant one.
template <class T>
gpu::matrix<T> mixed_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  gpu::matrix<T> out = tied_matrix<T>(rows, cols, seed, 0.4);
  for (gpu::index_t i = 3; i < rows; i += 4) std::copy_n(out.row(i - 2).data(), cols, &out(i, 0));
  if (rows > 5) std::fill_n(&out(5, 0), cols, T{2});
  return out;
}

/// The first sink that says another thing of `table` than of `expected`.
template <class Table, class Expected>
std::string_view differs(gpu::measure what, const Table& table, const Expected& expected,
                         const gpu::pair_options& options) {
  const gpu::measure_info& info = gpu::info_of(what);
  // Missing values leave each pair a test of its own, which no search counts.
  const bool tests = info.test != gpu::significance::none;
  const auto said = [&](const auto& data) {
    return what_sinks_say(
        [&](const auto& sink) { return gpu::all_pairs(what, data, options, sink); }, tests);
  };
  return first_difference(said(table), said(expected));
}

/// Ranks of the integers themselves, by their definition.
template <class T>
gpu::matrix<double> ranks_by_definition(const gpu::matrix<T>& table) {
  gpu::matrix<double> out(table.rows(), table.cols());
  for (gpu::index_t i = 0; i < table.rows(); ++i) {
    for (gpu::index_t j = 0; j < table.cols(); ++j) {
      gpu::index_t below = 0;
      gpu::index_t equal = 0;
      for (gpu::index_t k = 0; k < table.cols(); ++k) {
        below += table(i, k) < table(i, j) ? 1 : 0;
        equal += table(i, k) == table(i, j) ? 1 : 0;
      }
      out(i, j) = static_cast<double>(below) + static_cast<double>(equal + 1) / 2;
    }
  }
  return out;
}

/// Integers around 2^53 and the ends of the type, which doubles run together, with true ties.
template <class T>
gpu::matrix<T> large_integers(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  gpu::matrix<T> out(rows, cols);
  std::mt19937_64 engine(seed);
  constexpr T places[] = {T{1} << 53, std::numeric_limits<T>::max() - 3,
                          std::numeric_limits<T>::min() + 3, (T{1} << 62) + 1};
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = 0; j < cols; ++j) {
      const auto offset = static_cast<T>(engine() % 7);
      const T near = places[i % 5 == 4 ? engine() % 4 : static_cast<std::uint64_t>(i % 4)];
      out(i, j) = static_cast<T>(near + offset - T{3});
    }
  }
  return out;
}

template <class T>
void large_integers_are_ranked_as_they_are(const pair_target& target) {
  const auto table = large_integers<T>(60, 23, 6);
  const in_columns<T> turned(table);
  const gpu::matrix<double> ranks = ranks_by_definition(table);
  const auto all_equal = [&](const gpu::matrix<double>& got) {
    return std::equal(got.data(), got.data() + got.rows() * got.cols(), ranks.data());
  };
  CHECK(all_equal(gpu::rank_rows(table, {.exec = target.options().exec})));
  CHECK(all_equal(gpu::rank_rows(turned.view(), {.exec = target.options().exec})));
  CHECK(all_equal(gpu::rank_rows(columns_apart<T>(table).view(), {.exec = target.options().exec})));
  // The ranks have those ranks again.
  for (const gpu::measure what : gpu::all_measures()) {
    if (gpu::info_of(what).scale != gpu::value_scale::ordinal) continue;
    CHECK(differs(what, table, ranks, target.options()).empty());
    CHECK(differs(what, turned.view(), ranks, target.options()).empty());
  }
}

/// Measures of values take those that doubles hold, and name the first that is larger.
template <class T>
void inexact_integers_are_refused(const pair_target& target) {
  constexpr T most = T{1} << 53;
  gpu::matrix<T> table(9, 6);
  std::mt19937_64 engine(7);
  for (gpu::index_t i = 0; i < 9; ++i) {
    for (gpu::index_t j = 0; j < 6; ++j) table(i, j) = most - static_cast<T>(engine() % 1000);
  }
  gpu::matrix<double> doubles(9, 6);
  std::transform(table.data(), table.data() + 54, doubles.data(),
                 [](T value) { return static_cast<double>(value); });
  for (const gpu::measure what :
       {gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor}) {
    CHECK(differs(what, table, doubles, target.options()).empty());
    CHECK(differs(what, in_columns<T>(table).view(), doubles, target.options()).empty());
  }
  table(8, 1) = most + 2;
  table(7, 4) = most + 1;
  const std::string expected = "got 9007199254740993 at row 7, column 4, expected integers up to";
  const auto refusal = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const gpu::invalid_argument& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  const in_columns<T> turned(table);
  const columns_apart<T> apart(table);
  for (const gpu::measure what :
       {gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor}) {
    const auto options = target.options();
    const std::string own = "data: " + expected;
    CHECK(refusal([&] { (void)gpu::all_pairs(what, table, options); }).starts_with(own));
    CHECK(refusal([&] { (void)gpu::all_pairs(what, turned.view(), options); }).starts_with(own));
    CHECK(refusal([&] { (void)gpu::all_pairs(what, apart.view(), options); }).starts_with(own));
    CHECK(refusal([&] { (void)gpu::plan_all_pairs(what, table, options); }).starts_with(own));
    CHECK(refusal([&] { (void)gpu::prepare_rows(what, table, options); }).starts_with(own));
    CHECK(refusal([&] {
            (void)gpu::all_pairs(what, doubles, turned.view(), options);
          }).starts_with("y: " + expected));
  }
  CHECK_NOTHROW(gpu::all_pairs(gpu::measure::spearman, table, target.options()));
}

}  // namespace gpu_test
