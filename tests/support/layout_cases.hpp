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

namespace gpu_test {

/// A copy of a matrix that stands column by column, with a gap behind each column.
template <class T>
class in_columns {
 public:
  explicit in_columns(const gpu::matrix<T>& from, gpu::index_t gap = 3)
      : rows_(from.rows()), cols_(from.cols()), stride_(rows_ + gap) {
    cells_.assign(static_cast<std::size_t>(stride_ * cols_ + 1), T{77});
    for (gpu::index_t i = 0; i < rows_; ++i) {
      for (gpu::index_t j = 0; j < cols_; ++j) {
        cells_[static_cast<std::size_t>(j * stride_ + i)] = from(i, j);
      }
    }
  }
  [[nodiscard]] gpu::column_matrix_view<const T> view() const {
    return {cells_.data(), rows_, cols_, stride_};
  }

 private:
  gpu::index_t rows_;
  gpu::index_t cols_;
  gpu::index_t stride_;
  std::vector<T> cells_;
};

/// A copy of a matrix whose columns lie apart.
template <class T>
class columns_apart {
 public:
  explicit columns_apart(const gpu::matrix<T>& from) : rows_(from.rows()) {
    for (gpu::index_t j = 0; j < from.cols(); ++j) {
      std::vector<T>& own = columns_.emplace_back();
      for (gpu::index_t i = 0; i < rows_; ++i) own.push_back(from(i, j));
      own.push_back(T{77});
      begins_.push_back(own.data());
    }
  }
  [[nodiscard]] gpu::column_list_view<const T> view() const { return {begins_, rows_}; }

 private:
  gpu::index_t rows_;
  std::vector<std::vector<T>> columns_;
  std::vector<const T*> begins_;
};

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

/// Less than the rows of the cases take; on CUDA those of Kendall's tau have to fit.
inline std::size_t little_memory(gpu::measure what, const pair_target& target) {
  const bool has_to_fit = what == gpu::measure::kendall && target.where != gpu::backend::cpu;
  return std::size_t{has_to_fit ? 24U : 2U} << 20;
}

template <class T>
void every_layout_gives_the_same_bytes(const pair_target& target) {
  for (const gpu::measure what : gpu::all_measures()) {
    for (const auto& [rows, cols] : {std::pair<gpu::index_t, gpu::index_t>{0, 5},
                                     {1, 3},
                                     {2, 4},
                                     {33, 31},
                                     {65, 64},
                                     {150, 131},
                                     {257, 33},
                                     {40, 600}}) {
      INFO(gpu::to_string(what) << " of " << rows << " x " << cols);
      const auto table = mixed_rows<T>(rows, cols, static_cast<std::uint64_t>(rows * cols));
      const in_columns<T> turned(table);
      const columns_apart<T> apart(table);
      CHECK(differs(what, turned.view(), table, target.options()).empty());
      CHECK(differs(what, apart.view(), table, target.options()).empty());
    }
  }
}

/// x and y in layouts of their own, of types of their own.
inline void two_tables_have_layouts_of_their_own(const pair_target& target) {
  const auto x = mixed_rows<float>(70, 40, 3);
  const auto y = mixed_rows<std::int16_t>(90, 40, 4);
  const in_columns<float> x_turned(x);
  const columns_apart<float> x_apart(x);
  const in_columns<std::int16_t> y_turned(y);
  for (const gpu::measure what : gpu::all_measures()) {
    INFO(gpu::to_string(what));
    const bool tests = gpu::info_of(what).test != gpu::significance::none;
    const auto said = [&](const auto& a, const auto& b) {
      return what_sinks_say(
          [&](const auto& sink) { return gpu::all_pairs(what, a, b, target.options(), sink); },
          tests);
    };
    const said_by_sinks expected = said(x, y);
    CHECK(first_difference(said(x_turned.view(), y), expected).empty());
    CHECK(first_difference(said(x, y_turned.view()), expected).empty());
    CHECK(first_difference(said(x_turned.view(), y_turned.view()), expected).empty());
    CHECK(first_difference(said(x_apart.view(), y_turned.view()), expected).empty());
    const gpu::prepared_rows prepared = gpu::prepare_rows(what, y_turned.view(), target.options());
    CHECK(first_difference(
              what_sinks_say(
                  [&](const auto& sink) {
                    return gpu::all_pairs(what, x_turned.view(), prepared, target.options(), sink);
                  },
                  tests),
              what_sinks_say(
                  [&](const auto& sink) {
                    return gpu::all_pairs(what, x, gpu::prepare_rows(what, y, target.options()),
                                          target.options(), sink);
                  },
                  tests))
              .empty());
  }
}

/// Parts, little memory, folding, missing values, plans: what reads rows in ways of its own.
inline void every_way_to_read_rows_takes_columns(const pair_target& target) {
  const auto table = mixed_rows<double>(300, 50, 5);
  auto holed = gpu::matrix<double>(table.clone());
  for (gpu::index_t i = 0; i < holed.rows(); i += 3) holed(i, i % 50) = std::nan("");
  const in_columns<double> turned(table);
  const columns_apart<double> holed_apart(holed);
  for (const gpu::measure what : gpu::all_measures()) {
    INFO(gpu::to_string(what));
    gpu::pair_options parts = target.options();
    parts.part = {.index = 1, .of = 3};
    const auto of_part = [&](const auto& data) {
      std::string out;
      add_result(out, gpu::all_pairs(what, data, parts, gpu::edge_sink{.keep = {.min_abs = 0.2}}));
      return out;
    };
    const bool same_part = of_part(turned.view()) == of_part(table);
    CHECK(same_part);
    for (const gpu::row_folding fold : {gpu::row_folding::never, gpu::row_folding::automatic}) {
      gpu::pair_options little = target.options();
      little.exec.workspace_bytes = little_memory(what, target);
      little.exec.cpu_threads = 2;  // each takes some of it
      little.fold = fold;
      CHECK(differs(what, turned.view(), table, little).empty());
    }
    gpu::pair_options holes = target.options();
    holes.nans = gpu::nan_policy::propagate;
    CHECK(differs(what, holed_apart.view(), holed, holes).empty());
    const auto plan = gpu::plan_all_pairs(what, turned.view(), target.options());
    const auto expected = gpu::plan_all_pairs(what, table, target.options());
    CHECK(plan.kept_estimate == expected.kept_estimate);
    CHECK(plan.pairs == expected.pairs);
  }
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
