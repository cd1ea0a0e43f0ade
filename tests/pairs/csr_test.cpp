// Sparse tables on the CPU.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gpu/error.hpp>

#include "support/catch.hpp"
#include "support/csr_cases.hpp"
#include "support/refusals.hpp"

namespace {

constexpr auto refusal_of = [](const auto& call) {
  return gpu_test::refusal_of<gpu::invalid_argument>(call);
};

// A program's own sparse matrix.
struct own_sparse {
  std::vector<std::int64_t> outer;
  std::vector<std::int64_t> inner;
  std::vector<double> values;
  gpu::index_t cols;
};

}  // namespace

template <>
struct gpu::matrix_access<own_sparse> {
  static gpu::csr_view<const double> view(const own_sparse& from) {
    return {from.outer.data(), from.inner.data(), from.values.data(), from.outer.size() - 1,
            from.cols};
  }
};

TEST_CASE("Ranks of sparse rows are those of dense ones", "[csr]") {
  const auto table = gpu_test::thin_rows<float>(70, 33, 8);
  const gpu_test::in_csr<float> sparse(table);
  for (const gpu::tie_method ties : {gpu::tie_method::average, gpu::tie_method::min,
                                     gpu::tie_method::dense, gpu::tie_method::ordinal}) {
    const gpu::rank_options options{.ties = ties, .exec = {.target = gpu::backend::cpu}};
    std::string expected;
    std::string got;
    gpu_test::add_bytes(expected, gpu::rank_rows(table, options));
    gpu_test::add_bytes(got, gpu::rank_rows(sparse.view(), options));
    const bool same = got == expected;
    CHECK(same);
  }
}

TEST_CASE("Observations that pairs of sparse rows share", "[csr]") {
  auto table = gpu_test::thin_rows<float>(60, 30, 9, 0.4);
  for (gpu::index_t i = 0; i < 60; ++i) table(i, (7 * i) % 30) = std::nanf("");
  const gpu_test::in_csr<float> sparse(table);
  const auto shared = gpu::shared_observations(sparse.view());
  const auto expected = gpu::shared_observations(table);
  CHECK(std::equal(shared.data(), shared.data() + 3600, expected.data()));
}

TEST_CASE("A type of a program may be sparse", "[csr]") {
  // 1 0 2 and 0 3 0
  const own_sparse table{{0, 2, 3}, {0, 2, 1}, {1, 2, 3}, 3};
  const gpu::matrix<double> ranks = gpu::rank_rows(table);
  CHECK(ranks(0, 0) == 2);
  CHECK(ranks(0, 1) == 1);
  CHECK(ranks(1, 0) == 1.5);
  CHECK(std::abs(gpu::pearson_all_pairs(table)(0, 1) + std::sqrt(0.75)) < 1e-15);
  CHECK(gpu::csr_view<const double>(gpu::matrix_access<own_sparse>::view(table)).stored() == 3);
}

TEST_CASE("Rows that store nothing are rows of zeros", "[csr]") {
  const std::int32_t begin[] = {0, 0, 0, 2};
  const std::int32_t column[] = {0, 3};
  const float values[] = {1, 2};
  const gpu::csr_view<const float> view(begin, column, values, 3, 4);
  const auto found = gpu::spearman_all_pairs(view, {}, gpu::edge_sink{});
  CHECK(found.edges.empty());
  CHECK(found.summary.constant_rows == std::vector<gpu::index_t>{0, 1});
  // Not even arrays of columns and values.
  const std::int64_t none[] = {0, 0};
  CHECK(gpu::rank_rows(gpu::csr_view<const float>(none, nullptr, nullptr, 1, 3))(0, 2) == 2);
  CHECK(gpu::rank_rows(gpu::csr_view<const float>()).empty());
}

TEST_CASE("A pattern that is none is refused", "[csr]") {
  const auto refuse = [](std::vector<std::int32_t> begin, std::vector<std::int32_t> column,
                         gpu::index_t rows, gpu::index_t cols) {
    const std::vector<float> values(column.size() + 1);
    return refusal_of([&] {
      gpu::csr_view<const float>(begin.data(), column.data(), values.data(), rows, cols);
    });
  };
  CHECK(refuse({0}, {}, -1, 3) == "csr view: extents are [-1, 3], expected none below 0");
  CHECK(refuse({1, 2}, {0, 1}, 1, 3) == "csr view: row_begin begins with 1, expected 0");
  CHECK(refuse({0, 2, 1}, {0, 1}, 2, 3) ==
        "csr view: row 1 ends at 1, expected at least its begin 2");
  CHECK(refuse({0, 1, 2}, {0, 3}, 2, 3) == "csr view: row 1 stores column 3, expected 0 to 2");
  CHECK(refuse({0, 1, 2}, {0, -1}, 2, 3) == "csr view: row 1 stores column -1, expected 0 to 2");
  CHECK(refuse({0, 2}, {1, 1}, 1, 3) ==
        "csr view: row 0 stores column 1 behind column 1, expected columns that ascend, none "
        "twice");
  const std::int32_t begin[] = {0, 1};
  const std::int32_t column[] = {0};
  const float values[] = {1};
  CHECK(refusal_of([&] {
          gpu::csr_view<const float>(static_cast<const std::int32_t*>(nullptr), column, values, 1,
                                     3);
        }) == "csr view: row_begin is null, expected 2 indices");
  CHECK(refusal_of([&] { gpu::csr_view<const float>(begin, column, nullptr, 1, 3); }) ==
        "csr view: values is null, expected 1 of them");
}

TEST_CASE("More stored values than there are places is refused before they are read", "[csr]") {
  const std::int64_t begin[] = {0, 2, 4};
  const std::int64_t column[] = {0, 1, 0};
  const double values[] = {1, 2, 3};
  CHECK(
      refusal_of([&] { gpu::csr_view<const double>(begin, column, values, 2, 4, 3); }) ==
      "csr view: row_begin ends with 4, expected at most the 3 values and columns that are there");
}

TEST_CASE("Indices that change once there is a view are checked where they are used", "[csr]") {
  std::int64_t begin[] = {0, 2, 4};
  std::int64_t column[] = {0, 2, 1, 3};
  const std::int64_t values[] = {1, 2, 3, 4};
  const gpu::csr_view<const std::int64_t> view(begin, column, values, 2, 4);
  CHECK(view.stored() == 4);
  const auto refused = [&] { return refusal_of([&] { (void)gpu::rank_rows(view); }); };
  column[3] = 4;
  CHECK(refused() == "csr view: row 1 stores column 4, expected 0 to 3");
  CHECK(refusal_of([&] { (void)gpu::cosine_all_pairs(view); }) == refused());
  column[3] = -1;
  CHECK(refused() == "csr view: row 1 stores column -1, expected 0 to 3");
  column[3] = 3;
  begin[2] = 1000;
  CHECK(refused() == "csr view: row 1 stores places 2 to 1000, expected 0 to 4");
  begin[1] = -1;
  CHECK(refused() == "csr view: row 0 ends at -1, expected at least its begin 0");
  CHECK(view.stored() == 4);
}

TEST_CASE("Integers that no double holds are refused or ranked, sparse too", "[csr]") {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  const std::int64_t begin[] = {0, 2, 4};
  const std::int64_t column[] = {1, 2, 0, 3};
  const std::int64_t values[] = {5, 7, large, large + 1};
  const gpu::csr_view<const std::int64_t> view(begin, column, values, 2, 4);
  CHECK(refusal_of([&] {
          (void)gpu::pearson_all_pairs(view);
        }).starts_with("data: got 9007199254740993 at row 1, column 0, expected integers up to"));
  CHECK(gpu::rank_rows(view)(1, 3) == 4);
  CHECK(gpu::rank_rows(view)(1, 0) == 3);
}
