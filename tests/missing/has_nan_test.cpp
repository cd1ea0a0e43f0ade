// Whether a table holds a NaN: wherever it stands, in whatever order the values are.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/matrix.hpp>

#include "pairs/checks.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;

template <class T>
gpu::matrix<T> zeros(index_t rows, index_t cols) {
  gpu::matrix<T> out(rows, cols);
  std::fill_n(out.data(), rows * cols, T{0});
  return out;
}

template <class T>
bool has_nan(const gpu::matrix<T>& x) {
  return !gpu::validate::find_nan_rows({.x = x.view()}, 2).empty();
}

template <class T>
void find_one_anywhere(index_t rows, index_t cols) {
  gpu::matrix<T> x(rows, cols);
  for (index_t i = 0; i < rows * cols; ++i) x.data()[i] = static_cast<T>(i % 7) - T{3};
  x(0, 0) = std::numeric_limits<T>::infinity();
  CHECK_FALSE(has_nan(x));
  for (const index_t row : {index_t{0}, rows / 2, rows - 1}) {
    for (const index_t col : {index_t{0}, cols / 2, cols - 1}) {
      INFO(rows << " x " << cols << ", at " << row << ", " << col);
      const T before = x(row, col);
      x(row, col) = std::numeric_limits<T>::quiet_NaN();
      CHECK(has_nan(x));
      CHECK(gpu::validate::find_nan_rows({.x = x.view()}, 2) == std::vector<index_t>{row});
      x(row, col) = -std::numeric_limits<T>::signaling_NaN();
      CHECK(has_nan(x));
      x(row, col) = before;
    }
  }
}

}  // namespace

TEST_CASE("A NaN is found wherever it stands", "[missing]") {
  for (const index_t cols : {1, 3, 8, 31, 300}) {
    find_one_anywhere<float>(5, cols);
    find_one_anywhere<double>(5, cols);
  }
  find_one_anywhere<float>(9000, 100);  // of several threads
  find_one_anywhere<double>(2, 300'000);
}

TEST_CASE("A NaN is found in y, and not among integers", "[missing]") {
  const gpu::matrix<double> x = zeros<double>(4, 5);
  gpu::matrix<double> y = zeros<double>(300, 5);
  y(299, 4) = std::numeric_limits<double>::quiet_NaN();
  using gpu::validate::find_nan_rows;
  CHECK(find_nan_rows({.x = x.view(), .y = y.view()}, 1) == std::vector<index_t>{4 + 299});
  CHECK(find_nan_rows({.x = x.view(), .y = x.view()}, 1).empty());
  const gpu::matrix<std::int32_t> counts = zeros<std::int32_t>(4, 5);
  CHECK(find_nan_rows({.x = counts.view()}, 1).empty());
}
