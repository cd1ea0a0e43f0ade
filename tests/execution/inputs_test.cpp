// What a call takes as data: the same answer from every form.
#include <gpu/similarity.hpp>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/refusals.hpp"

namespace {

const gpu::execution cpu{.target = gpu::backend::cpu};

// A program's own matrix, with a gap behind each row.
struct padded_table {
  std::vector<double> cells;
  gpu::index_t rows = 0;
  gpu::index_t cols = 0;
};

gpu::matrix<double> small_matrix() {
  gpu::matrix<double> data(3, 5);
  const std::array<double, 15> values{1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 9, 4, 7, 6};
  for (gpu::index_t i = 0; i < 15; ++i) data(i / 5, i % 5) = values[static_cast<std::size_t>(i)];
  return data;
}

template <class Data>
void check_operations(const Data& data) {
  const gpu::edge_sink all{};
  const auto expected = gpu::spearman_all_pairs(small_matrix(), {.exec = cpu}, all).edges;
  REQUIRE(expected.size() == 3);
  CHECK(gpu::spearman_all_pairs(data, {.exec = cpu}, all).edges == expected);
  CHECK(gpu::spearman_all_pairs(data, all).edges == expected);
  CHECK(gpu::spearman_all_pairs(data)(0, 1) == -1);
  CHECK(gpu::pearson_all_pairs(data, {.exec = cpu}, all).edges.size() == 3);
  CHECK(gpu::pearson_all_pairs(data, gpu::count_sink{}).kept == 3);
  CHECK(gpu::plan_all_pairs(gpu::measure::spearman, data, {.exec = cpu}).pairs == 3);
  const std::vector<float> more{1, 2, 3, 4, 5, 9, 8, 7, 6, 5};
  const auto y = gpu::as_matrix(more, 2, 5);
  CHECK(gpu::spearman_all_pairs(data, y)(1, 0) == -1);
  CHECK(gpu::spearman_all_pairs(y, data)(1, 1) == 1);
  CHECK(gpu::spearman_all_pairs(data, y, {.exec = cpu})(0, 1) == -1);
  CHECK(gpu::spearman_all_pairs(data, y, all).edges.size() == 6);
  CHECK(gpu::spearman_all_pairs(data, y, {.exec = cpu}, all).edges.size() == 6);
  CHECK(gpu::spearman_all_pairs(data, data, gpu::count_sink{}).kept == 9);
  CHECK(gpu::pearson_all_pairs(data, y).cols() == 2);
  CHECK(gpu::pearson_all_pairs(y, data, gpu::top_k_sink{.k = 1}).index(0, 0) == 0);
  CHECK(gpu::pearson_all_pairs(data, y, {.exec = cpu}, all).edges.size() == 6);
  CHECK(gpu::plan_all_pairs(gpu::measure::pearson, data, y, {.exec = cpu}).pairs == 6);
  CHECK(gpu::rank_rows(data, {.exec = cpu})(2, 1) == 5);
  CHECK(gpu::top_k(data, 2, {.exec = cpu}).indices(2, 1) == 3);
  CHECK(gpu::top_k_distinct(data, 2, {.exec = cpu}).values(1, 0) == 5);
  CHECK(gpu::mean_filter(data, {.exec = cpu})(0, 1) == 2);
  CHECK(gpu::convolve(data, std::vector<double>{1}, {.exec = cpu})(2, 4) == 6);
  CHECK(gpu::pack_bits(data, 5, cpu)(0, 4));
}

}  // namespace

template <>
struct gpu::matrix_access<padded_table> {
  static gpu::matrix_view<const double> view(const padded_table& t) {
    return {t.cells.data(), t.rows, t.cols, t.cols + 2};
  }
};

TEST_CASE("Matrices, views, ranges and a program's own type give the same answers", "[inputs]") {
  gpu::matrix<double> data = small_matrix();
  check_operations(data);
  check_operations(std::as_const(data));
  check_operations(data.view());
  check_operations(gpu::matrix_view<const double>(data.view()));
  check_operations(gpu::view_of(data));
  std::vector<double> values(data.data(), data.data() + 15);
  check_operations(gpu::as_matrix(values, 3, 5));
  check_operations(gpu::as_matrix(std::span<const double>(values), 3, 5));
  padded_table table{std::vector<double>(21, 1e300), 3, 5};
  for (gpu::index_t i = 0; i < 3; ++i) {
    for (gpu::index_t j = 0; j < 5; ++j) {
      table.cells[static_cast<std::size_t>(i * 7 + j)] = data(i, j);
    }
  }
  check_operations(table);
  check_operations(gpu::matrix_view<const double>(table.cells.data(), 3, 5, 7));
}

#if defined(__cpp_lib_mdspan)
TEST_CASE("std::mdspan is read row by row", "[inputs]") {
  gpu::matrix<double> data = small_matrix();
  check_operations(std::mdspan(data.data(), 3, 5));
  const std::dextents<int, 2> shape(3, 5);
  const std::layout_stride::mapping by_rows(shape, std::array{5, 1});
  check_operations(std::mdspan(data.data(), by_rows));
  check_operations(std::mdspan(std::as_const(data).data(), std::extents<std::size_t, 3, 5>()));
  gpu::matrix<double> means(3, 5);
  gpu::mean_filter(std::mdspan(data.data(), 3, 5), std::mdspan(means.data(), 3, 5), {.exec = cpu});
  CHECK(means(0, 1) == 2);
  const std::layout_stride::mapping by_columns(shape, std::array{1, 3});
  CHECK_THROWS_AS(gpu::rank_rows(std::mdspan(data.data(), by_columns)), gpu::invalid_argument);
}
#endif

TEST_CASE("A range needs as many elements as its shape says", "[inputs]") {
  std::vector<int> data(6);
  CHECK(gpu::as_matrix(data, 2, 3).cols() == 3);
  CHECK_THROWS_AS(gpu::as_matrix(data, 2, 2), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::as_matrix(data, -2, -3), gpu::invalid_argument);
}

TEST_CASE("Extents of any integer type are taken", "[inputs]") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::size_t rows = 2;
  const gpu::matrix_view<const float> view{values.data(), rows, 3U};
  CHECK(view.rows() == 2);
  CHECK(view.cols() == 3);
  CHECK(view(1, 2) == 6);
  CHECK(gpu::as_matrix(values, rows, 3)(1, 0) == 4);
  CHECK(gpu::matrix<int>(rows, 5U).cols() == 5);
  CHECK_THROWS_AS((gpu::matrix<int>(-2, 5U)), gpu::invalid_argument);
  CHECK_THROWS_WITH((gpu::matrix_view<const float>{values.data(), ~std::size_t{0}, rows}),
                    Catch::Contains("got 18446744073709551615, expected at most"));
  CHECK(gpu::version() == GPU_SIMILARITY_VERSION);
}

TEST_CASE("Vectors go into vector operations, and results into what the caller has", "[inputs]") {
  const std::vector<float> x{3, 1, 2};
  CHECK(gpu::top_k(x, 1, {.exec = cpu}).indices == std::vector<gpu::index_t>{0});
  CHECK(gpu::top_k(std::array{3, 1, 2}, 1, {.exec = cpu}).values == std::vector<int>{3});
  CHECK(gpu::mean_filter(x, {.exec = cpu}).size() == 3);
  std::array<float, 3> means{};
  gpu::mean_filter(x, means, {.boundary = gpu::boundary::zero, .exec = cpu});
  CHECK(means == std::array<float, 3>{4.0F / 3, 2, 1});
  std::vector<double> sums(3);
  gpu::convolve(std::vector<double>{1, 2, 3}, std::array{2.0}, sums, {.exec = cpu});
  CHECK(sums == std::vector<double>{2, 4, 6});

  const gpu::matrix<double> a = small_matrix();
  gpu::matrix<double> c(3, 3);
  gpu::matmul(a, a, c, {.b = gpu::transposition::transpose, .exec = cpu});
  CHECK(c(0, 0) == 55);
  CHECK(gpu::matmul(a, a.view(), {.b = gpu::transposition::transpose, .exec = cpu})(0, 1) == 35);
  const gpu::bit_matrix bits = gpu::pack_bits(a, 3, cpu);
  CHECK(gpu::binary_matmul(bits, bits, {.exec = cpu})(0, 0) == 5);
}

TEST_CASE("What an operation makes of NaN is one of what it offers", "[inputs]") {
  const gpu::matrix<double> data = small_matrix();
  gpu_test::check_refused<gpu::unsupported>(
      [&] { gpu::spearman_all_pairs(data, {.nans = gpu::nan_policy::omit, .exec = cpu}); },
      "options.nans: omit is not offered by all pairs, expected one of reject, propagate, "
      "pairwise");
  CHECK_THROWS_AS(gpu::mean_filter(data, {.nans = gpu::nan_policy::reject, .exec = cpu}),
                  gpu::unsupported);
}

TEST_CASE("Column blocks of one buffer are memory of their own", "[inputs]") {
  std::vector<double> buffer(3 * 10, 2);
  const gpu::matrix_view<const double> left(buffer.data(), 3, 5, 10);
  const gpu::matrix_view<double> right(buffer.data() + 5, 3, 5, 10);
  const gpu::matrix_view<double> across(buffer.data() + 4, 3, 5, 10);
  const gpu::matrix_view<double> around(buffer.data() + 8, 2, 5, 10);
  CHECK_NOTHROW(gpu::mean_filter(left, right, {.exec = cpu}));
  CHECK_THROWS_AS(gpu::mean_filter(left, across, {.exec = cpu}), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::mean_filter(gpu::matrix_view<const double>(buffer.data(), 2, 5, 10), around,
                                   {.exec = cpu}),
                  gpu::invalid_argument);
  const gpu::matrix_view<double> product(buffer.data() + 5, 3, 3, 10);
  CHECK_NOTHROW(
      gpu::matmul(left, left, product, {.b = gpu::transposition::transpose, .exec = cpu}));
  CHECK(product(2, 2) == 20);
}
