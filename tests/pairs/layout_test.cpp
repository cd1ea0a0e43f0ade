// Tables in either layout and of wide integers, on the CPU.
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/layout_cases.hpp"
#include "support/least_workspace.hpp"
#include "support/refusals.hpp"

namespace {

const gpu_test::pair_target cpu{.where = gpu::backend::cpu};

// A program's own matrix, whose columns follow each other, as those of Eigen do.
struct own_columns {
  std::vector<float> cells;
  gpu::index_t rows;
};

template <class T>
void check_ranks(gpu::index_t rows, gpu::index_t cols) {
  const auto table = gpu_test::mixed_rows<T>(rows, cols, 8);
  const gpu_test::in_columns<T> turned(table);
  for (const gpu::tie_method ties :
       {gpu::tie_method::average, gpu::tie_method::min, gpu::tie_method::max,
        gpu::tie_method::dense, gpu::tie_method::ordinal}) {
    const gpu::rank_options options{
        .ties = ties, .order = gpu::rank_order::descending, .exec = {.target = gpu::backend::cpu}};
    std::string expected;
    std::string got;
    gpu_test::add_bytes(expected, gpu::rank_rows(table, options));
    gpu_test::add_bytes(got, gpu::rank_rows(turned.view(), options));
    const bool same = got == expected;
    CHECK(same);
  }
}

constexpr auto refusal_of = [](const auto& call) {
  return gpu_test::refusal_of<gpu::invalid_argument>(call);
};

}  // namespace

template <>
struct gpu::matrix_access<own_columns> {
  static gpu::column_matrix_view<const float> view(const own_columns& table) {
    return gpu::transposed(gpu::as_matrix(
        table.cells, static_cast<gpu::index_t>(table.cells.size()) / table.rows, table.rows));
  }
};

TEST_CASE("A type of a program may stand column by column", "[layout]") {
  const own_columns table{{1, 3, 2, 2, 3, 1}, 2};  // rows 1 2 3 and 3 2 1
  CHECK(gpu::spearman_all_pairs(table)(0, 1) == -1);
  CHECK(gpu::rank_rows(table)(1, 0) == 3);
  CHECK(gpu::transposed(table).row_stride() == 2);
}

// Of all pairs: pair_ways_test.cpp.
TEMPLATE_TEST_CASE("Columns give the ranks that rows give", "[layout]", std::int8_t, std::int16_t,
                   std::int32_t, std::uint8_t, std::uint16_t, float, double, std::int64_t,
                   std::uint32_t, std::uint64_t) {
  check_ranks<TestType>(70, 33);
}

TEST_CASE("Observations that pairs share are counted in columns", "[layout]") {
  auto table = gpu_test::mixed_rows<float>(60, 30, 9);
  for (gpu::index_t i = 0; i < 60; ++i) table(i, (7 * i) % 30) = std::nanf("");
  const gpu_test::in_columns<float> turned(table);
  const auto shared = gpu::shared_observations(turned.view());
  const auto expected = gpu::shared_observations(table);
  CHECK(std::equal(shared.data(), shared.data() + 3600, expected.data()));
}

TEST_CASE("A NaN in columns is named by its row and column", "[layout]") {
  auto table = gpu_test::random_matrix<double>(20, 8, 11);
  table(13, 6) = std::nan("");
  const gpu_test::in_columns<double> turned(table);
  const gpu::execution exec{.target = gpu::backend::cpu};
  const std::string place = "data: got NaN at row 13, column 6";
  CHECK(refusal_of([&] {
          (void)gpu::spearman_all_pairs(turned.view(), {.exec = exec});
        }).starts_with(place + " (1 row with NaN), expected numbers"));
  auto two = gpu::matrix<double>(table.clone());
  two(17, 0) = two(17, 1) = std::nan("");
  CHECK(refusal_of([&] {
          (void)gpu::spearman_all_pairs(gpu_test::columns_apart<double>(two).view(),
                                        {.exec = exec});
        }).starts_with(place + " (2 rows with NaN), expected numbers"));
  CHECK(
      refusal_of([&] { (void)gpu::rank_rows(turned.view(), {.exec = exec}); }).starts_with(place));
  const auto ranks =
      gpu::rank_rows(turned.view(), {.nans = gpu::nan_policy::propagate, .exec = exec});
  CHECK(std::isnan(ranks(13, 0)));
  CHECK(ranks(12, 0) ==
        gpu::rank_rows(table, {.nans = gpu::nan_policy::propagate, .exec = exec})(12, 0));
}

TEST_CASE("Large integers are ranked as they are", "[layout]") {
  gpu_test::large_integers_are_ranked_as_they_are<std::int64_t>(cpu);
  gpu_test::large_integers_are_ranked_as_they_are<std::uint64_t>(cpu);
}

TEST_CASE("Measures of values refuse integers that doubles do not hold", "[layout]") {
  gpu_test::inexact_integers_are_refused<std::int64_t>(cpu);
  gpu_test::inexact_integers_are_refused<std::uint64_t>(cpu);
  gpu::matrix<std::int64_t> low(2, 3);
  std::fill_n(low.data(), 6, std::int64_t{5});
  low(1, 2) = std::numeric_limits<std::int64_t>::min();
  CHECK(refusal_of([&] {
          (void)gpu::pearson_all_pairs(low);
        }).starts_with("data: got -9223372036854775808 at row 1, column 2"));
}

TEST_CASE("A view of columns that lie apart names a column that is not there", "[layout]") {
  const std::vector<double> a(5);
  const std::vector<const double*> columns{a.data(), a.data(), nullptr, nullptr};
  CHECK(refusal_of([&] { (void)gpu::column_list_view(columns, 5); }) ==
        "column list view: column 2 is null, expected 5 elements");
  CHECK(refusal_of([&] { (void)gpu::column_list_view(columns, -1); }) ==
        "column list view: extents are [-1, 4], expected none below 0");
  const gpu::column_list_view none(columns, std::size_t{0});
  CHECK((none.empty() && none.cols() == 4));
  CHECK(gpu::pearson_all_pairs(none).rows() == 0);
  const std::span first_two(columns.data(), 2);
  const gpu::column_list_view two(first_two, 5);
  static_assert(std::is_same_v<decltype(two), const gpu::column_list_view<const double>>);
  CHECK(&two(3, 1) == a.data() + 3);
}

TEST_CASE("Views of columns check their extents", "[layout]") {
  const double cells[12] = {};
  CHECK(refusal_of([&] { gpu::column_matrix_view<const double>(cells, 4, 3, 3); }) ==
        "column matrix view: col_stride is 3, expected at least the 4 rows");
  CHECK(refusal_of([&] { gpu::column_matrix_view<const double>(cells, -1, 3); }) ==
        "column matrix view: extents are [-1, 3], expected none below 0");
  CHECK(refusal_of([&] { gpu::column_matrix_view<const double>(nullptr, 1, 3); }) ==
        "column matrix view: data is null, expected 1 x 3 elements");
  const gpu::column_matrix_view<const double> view(cells, std::size_t{4}, 3);
  CHECK(view.col_stride() == 4);
  CHECK(view.column(2) == cells + 8);
  const auto back = gpu::transposed(view);
  static_assert(std::is_same_v<decltype(back), const gpu::matrix_view<const double>>);
  CHECK((back.rows() == 3 && back.cols() == 4 && back.data() == cells));
}
