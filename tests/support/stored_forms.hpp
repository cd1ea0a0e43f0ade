#pragma once
// Copies of a matrix in the other forms that calls read.

#include <cstdint>
#include <vector>

#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

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

/// A matrix in compressed sparse rows. Some zeros are stored, most are not.
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

}  // namespace gpu_test
