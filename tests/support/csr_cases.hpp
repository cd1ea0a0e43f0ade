#pragma once
// Cases of sparse tables: every sink says the same bytes of them as of the dense matrix. For any
// backend.

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/layout_cases.hpp"

namespace gpu_test {

/// A matrix in compressed sparse rows. Zeros are not stored, but for some that are.
template <class T, class Index = std::int32_t>
class in_csr {
 public:
  explicit in_csr(const gpu::matrix<T>& from) : rows_(from.rows()), cols_(from.cols()) {
    row_begin_.push_back(0);
    for (gpu::index_t i = 0; i < rows_; ++i) {
      for (gpu::index_t j = 0; j < cols_; ++j) {
        if (from(i, j) == T{} && (i + j) % 11 != 0) continue;
        column_.push_back(static_cast<Index>(j));
        values_.push_back(from(i, j));
      }
      row_begin_.push_back(static_cast<Index>(values_.size()));
    }
  }
  [[nodiscard]] gpu::csr_view<const T> view() const {
    return {row_begin_.data(), column_.data(), values_.data(), rows_, cols_};
  }

 private:
  gpu::index_t rows_;
  gpu::index_t cols_;
  std::vector<Index> row_begin_;
  std::vector<Index> column_;
  std::vector<T> values_;
};

/// Rows of mixed_rows in which `share` of the values are 0, one row all of them.
template <class T>
gpu::matrix<T> thin_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed,
                         double share = 0.7) {
  gpu::matrix<T> out = mixed_rows<T>(rows, cols, seed);
  std::mt19937_64 engine(seed + 1);
  std::bernoulli_distribution is_zero(share);
  for (gpu::index_t i = 0; i < rows; ++i) {
    // Rows that are equal stay so.
    if (i % 4 == 3) {
      std::copy_n(out.row(i - 2).data(), cols, &out(i, 0));
      continue;
    }
    for (gpu::index_t j = 0; j < cols; ++j) {
      if (i == 6 || is_zero(engine)) out(i, j) = T{};
    }
  }
  return out;
}

template <class T, class Index>
void sparse_gives_the_bytes_of_dense(const pair_target& target) {
  for (const gpu::measure what : gpu::all_measures()) {
    for (const auto& [rows, cols] : {std::pair<gpu::index_t, gpu::index_t>{0, 5},
                                     {1, 3},
                                     {9, 4},
                                     {33, 31},
                                     {150, 131},
                                     {40, 600}}) {
      INFO(gpu::to_string(what) << " of " << rows << " x " << cols);
      const auto table = thin_rows<T>(rows, cols, static_cast<std::uint64_t>(rows * cols));
      const in_csr<T, Index> sparse(table);
      CHECK(differs(what, sparse.view(), table, target.options()).empty());
    }
  }
}

/// x sparse and y dense or in columns, and prepared; parts, little memory, NaN, plans.
inline void every_way_to_read_rows_takes_sparse(const pair_target& target) {
  const auto table = thin_rows<double>(300, 50, 5);
  const in_csr<double, std::int64_t> sparse(table);
  auto holed = gpu::matrix<double>(table.clone());
  for (gpu::index_t i = 0; i < holed.rows(); i += 3) holed(i, i % 50) = std::nan("");
  const in_csr<double> holed_sparse(holed);
  const auto y = thin_rows<std::int16_t>(90, 50, 4);
  const in_csr<std::int16_t> y_sparse(y);
  for (const gpu::measure what : gpu::all_measures()) {
    INFO(gpu::to_string(what));
    const auto said = [&](const auto& a, const auto& b, gpu::pair_part part) {
      gpu::pair_options options = target.options();
      options.part = part;
      std::string out;
      add_result(out,
                 gpu::all_pairs(what, a, b, options, gpu::edge_sink{.keep = {.min_abs = 0.2}}));
      add_result(out, gpu::all_pairs(what, a, b, options, gpu::top_k_sink{.k = 3}));
      return out;
    };
    const bool same = said(sparse.view(), y_sparse.view(), {}) == said(table, y, {}) &&
                      said(sparse.view(), y, {1, 3}) == said(table, y, {1, 3}) &&
                      said(table, y_sparse.view(), {}) == said(table, y, {});
    CHECK(same);
    const bool same_prepared =
        said(sparse.view(), gpu::prepare_rows(what, y_sparse.view(), target.options()), {}) ==
        said(table, gpu::prepare_rows(what, y, target.options()), {});
    CHECK(same_prepared);
    gpu::pair_options little = target.options();
    little.exec.workspace_bytes = little_memory(what, target);
    little.exec.cpu_threads = 2;  // each takes some of it
    CHECK(differs(what, sparse.view(), table, little).empty());
    gpu::pair_options holes = target.options();
    holes.nans = gpu::nan_policy::propagate;
    CHECK(differs(what, holed_sparse.view(), holed, holes).empty());
    const auto plan = gpu::plan_all_pairs(what, sparse.view(), target.options());
    const auto expected = gpu::plan_all_pairs(what, table, target.options());
    CHECK(plan.kept_estimate == expected.kept_estimate);
    CHECK(plan.pairs == expected.pairs);
  }
}

}  // namespace gpu_test
