#pragma once
// The cases every implementation of matmul must pass, whatever memory it reads. A backend is a
// callable: multiply(a, b, c, options) on host views, which it may copy where it likes.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gpu/matmul.hpp>

#include "reference/matmul_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace gpu_test {

inline constexpr std::array transpositions{gpu::transposition::none, gpu::transposition::transpose};

struct product_shape {
  gpu::index_t m;
  gpu::index_t n;
  gpu::index_t k;
};

/// Elements with padded rows; the padding holds a mark that no implementation may change or use.
template <class T>
class padded_matrix {
 public:
  static constexpr T mark = std::numeric_limits<T>::quiet_NaN();

  padded_matrix(gpu::index_t rows, gpu::index_t cols, gpu::index_t padding, std::uint64_t seed)
      : rows_(rows), cols_(cols), stride_(cols + padding) {
    data_.assign(static_cast<std::size_t>(rows * stride_ + 1), mark);
    const gpu::matrix<T> values = random_matrix<T>(rows, cols, seed);
    for (gpu::index_t i = 0; i < rows; ++i) {
      for (gpu::index_t j = 0; j < cols; ++j) view()(i, j) = values(i, j);
    }
  }
  [[nodiscard]] gpu::matrix_view<T> view() { return {data_.data(), rows_, cols_, stride_}; }
  [[nodiscard]] gpu::matrix_view<const T> view() const {
    return {data_.data(), rows_, cols_, stride_};
  }
  [[nodiscard]] bool padding_is_untouched() const {
    for (gpu::index_t i = 0; i < rows_; ++i) {
      for (gpu::index_t j = cols_; j < stride_; ++j) {
        if (!std::isnan(data_[static_cast<std::size_t>(i * stride_ + j)])) return false;
      }
    }
    return true;
  }

 private:
  gpu::index_t rows_;
  gpu::index_t cols_;
  gpu::index_t stride_;
  std::vector<T> data_;
};

/// Operands stored as the options say.
template <class T>
struct operands {
  padded_matrix<T> a;
  padded_matrix<T> b;
  padded_matrix<T> c;

  operands(product_shape s, const gpu::matmul_options& options, gpu::index_t padding = 0,
           std::uint64_t seed = 1)
      : a(options.a == gpu::transposition::none ? s.m : s.k,
          options.a == gpu::transposition::none ? s.k : s.m, padding, seed),
        b(options.b == gpu::transposition::none ? s.k : s.n,
          options.b == gpu::transposition::none ? s.n : s.k, padding, seed + 1),
        c(s.m, s.n, padding, seed + 2) {}
};

/// The largest error of the checked elements as a fraction of the documented bound. All elements,
/// or, beyond `most` of them, that many spread evenly.
template <class T>
double worst_fraction_of_bound(gpu::matrix_view<const T> a, gpu::matrix_view<const T> b,
                               gpu::matrix_view<const T> c, const gpu::matmul_options& options,
                               gpu::index_t k, gpu::index_t most = 4000) {
  const gpu::index_t count = c.rows() * c.cols();
  const gpu::index_t step = count > most ? count / most : 1;
  double worst = 0;
  for (gpu::index_t e = 0; e < count; e += step) {
    const gpu::index_t i = e / c.cols();
    const gpu::index_t j = e % c.cols();
    const auto expected = matmul_reference(a, b, options, i, j);
    const long double error = std::fabs(static_cast<long double>(c(i, j)) - expected.value);
    const long double bound = matmul_error_bound<T>(expected, k, options.variant);
    worst = error <= bound ? std::fmax(worst, static_cast<double>(error / bound)) : 1e30;
  }
  return worst;
}

template <class T, class Backend>
void check_product(const Backend& multiply, product_shape shape, const gpu::matmul_options& options,
                   gpu::index_t padding = 0) {
  CAPTURE(shape.m, shape.n, shape.k, padding, static_cast<int>(options.a),
          static_cast<int>(options.b), gpu::to_string(options.variant));
  operands<T> x(shape, options, padding);
  multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options);
  CHECK(worst_fraction_of_bound<T>(std::as_const(x.a).view(), std::as_const(x.b).view(),
                                   std::as_const(x.c).view(), options, shape.k) <= 1.0);
  CHECK(x.c.padding_is_untouched());
}

/// The documented bound of alpha op(A) op(B) + beta C.
template <class T>
long double scaled_error_bound(const matmul_element_reference& element, long double old_c,
                               gpu::index_t k, const gpu::matmul_options& options) {
  const long double unit = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  const long double alpha = std::fabs(static_cast<long double>(static_cast<T>(options.alpha)));
  const long double beta = std::fabs(static_cast<long double>(static_cast<T>(options.beta)));
  const long double size = alpha * element.absolute_sum + beta * std::fabs(old_c);
  const bool is_blas = options.variant == gpu::matmul_variant::blas ||
                       (options.variant == gpu::matmul_variant::automatic &&
                        options.exec.target == gpu::backend::cpu);
  const auto depth = static_cast<long double>(k) + 3;
  if (is_blas) return depth * unit / (1 - depth * unit) * size + 1e-30L;
  // `automatic` may take the tensor cores.
  const auto bounded = options.variant == gpu::matmul_variant::automatic
                           ? gpu::matmul_variant::tensor
                           : options.variant;
  return alpha * std::fmax(matmul_error_bound<T>(element, k, options.variant),
                           matmul_error_bound<T>(element, k, bounded)) +
         3 * unit * size;
}

/// C = alpha op(A) op(B) + beta C. What is not to be read is NaN.
template <class T, class Backend>
void check_scaled_product(const Backend& multiply, product_shape shape,
                          const gpu::matmul_options& options) {
  CAPTURE(shape.m, shape.n, shape.k, options.alpha, options.beta, static_cast<int>(options.a),
          static_cast<int>(options.b), gpu::to_string(options.variant));
  operands<T> x(shape, options, 3);
  const auto fill = [](gpu::matrix_view<T> all) {
    for (gpu::index_t i = 0; i < all.rows(); ++i) {
      std::fill_n(all.row(i), all.cols(), std::numeric_limits<T>::quiet_NaN());
    }
  };
  if (options.beta == 0) fill(x.c.view());
  if (options.alpha == 0) {
    fill(x.a.view());
    fill(x.b.view());
  }
  const padded_matrix<T> old_c = x.c;
  multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options);
  double worst = 0;
  for (gpu::index_t i = 0; i < shape.m; ++i) {
    for (gpu::index_t j = 0; j < shape.n; ++j) {
      matmul_element_reference element;
      if (options.alpha != 0) {
        element =
            matmul_reference(std::as_const(x.a).view(), std::as_const(x.b).view(), options, i, j);
      }
      const long double before = options.beta == 0 ? 0 : old_c.view()(i, j);
      const long double expected =
          static_cast<long double>(static_cast<T>(options.alpha)) * element.value +
          static_cast<long double>(static_cast<T>(options.beta)) * before;
      const long double error = std::fabs(static_cast<long double>(x.c.view()(i, j)) - expected);
      const long double bound = scaled_error_bound<T>(element, before, shape.k, options);
      worst = error <= bound ? std::fmax(worst, static_cast<double>(error / bound)) : 1e30;
      if (worst > 1) break;
    }
  }
  CHECK(worst <= 1.0);
  CHECK(x.c.padding_is_untouched());
}

template <class T, class Backend>
void check_scaled_products(const Backend& multiply, const gpu::matmul_options& base) {
  struct factors {
    double alpha;
    double beta;
  };
  gpu::matmul_options options = base;
  for (const factors f : {factors{1, 0}, {2.5, 0}, {-1, 1}, {0.1, -2}, {1, 1}, {0, 3}, {0, 0}}) {
    options.alpha = f.alpha;
    options.beta = f.beta;
    for (const product_shape& shape :
         {product_shape{1, 1, 1}, {3, 40, 0}, {33, 31, 65}, {129, 70, 45}, {5, 300, 2000}}) {
      check_scaled_product<T>(multiply, shape, options);
    }
    for (const auto a : transpositions) {
      for (const auto b : transpositions) {
        options.a = a;
        options.b = b;
        check_scaled_product<T>(multiply, {66, 65, 130}, options);
      }
    }
    options.a = options.b = gpu::transposition::none;
  }
}

/// Extents of 0 and 1, and around every edge of 4, 8, 16, 32, 64, 128 and 192.
inline const std::vector<product_shape>& edge_shapes() {
  static const std::vector<product_shape> shapes{
      {1, 1, 1},      {1, 1, 300},    {1, 130, 3},   {130, 1, 3},   {3, 5, 7},
      {4, 4, 4},      {8, 16, 15},    {16, 8, 17},   {31, 33, 32},  {32, 32, 31},
      {33, 31, 33},   {64, 64, 64},   {63, 65, 16},  {65, 63, 66},  {127, 129, 8},
      {129, 127, 40}, {128, 128, 32}, {200, 20, 70}, {20, 200, 70}, {150, 193, 65},
      {5, 6, 2000},   {257, 12, 1},   {12, 257, 1},  {2, 1000, 9},  {1000, 2, 9}};
  return shapes;
}

template <class T, class Backend>
void check_edge_shapes(const Backend& multiply, const gpu::matmul_options& base) {
  gpu::matmul_options options = base;
  for (const product_shape& shape : edge_shapes()) {
    for (const auto a : transpositions) {
      for (const auto b : transpositions) {
        options.a = a;
        options.b = b;
        check_product<T>(multiply, shape, options);
        check_product<T>(multiply, shape, options, 4);
        check_product<T>(multiply, shape, options, 3);
      }
    }
  }
}

template <class T, class Backend>
void check_empty_extents(const Backend& multiply, const gpu::matmul_options& options) {
  for (const product_shape& shape : {product_shape{0, 5, 4}, {5, 0, 4}, {0, 0, 0}}) {
    operands<T> x(shape, options);
    CHECK_NOTHROW(
        multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options));
  }
  operands<T> x({3, 40, 0}, options, 2);
  multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options);
  for (gpu::index_t i = 0; i < 3; ++i) {
    for (gpu::index_t j = 0; j < 40; ++j) CHECK(x.c.view()(i, j) == T{0});
  }
  CHECK(x.c.padding_is_untouched());
}

/// IEEE 754 in every variant: what holds an Inf or NaN, and nothing else, shows it.
template <class T, class Backend>
void check_special_values(const Backend& multiply, const gpu::matmul_options& options) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  operands<T> x({70, 66, 40}, {});
  auto a = x.a.view();
  auto b = x.b.view();
  for (gpu::index_t l = 0; l < 40; ++l) {
    b(l, 0) = T{1};
    a(5, l) = T{2};
  }
  a(3, 7) = inf;
  a(9, 39) = std::numeric_limits<T>::quiet_NaN();
  b(0, 65) = -inf;
  multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options);
  const auto c = x.c.view();
  CHECK(c(3, 0) == inf);
  CHECK(c(5, 65) == -inf);
  for (gpu::index_t i = 0; i < 70; ++i) {
    for (gpu::index_t j = 0; j < 66; ++j) {
      const bool special = i == 3 || i == 9 || j == 65;
      if (std::isfinite(c(i, j)) == special) FAIL("element " << i << ", " << j);
      if (i == 9) CHECK(std::isnan(c(i, j)));
    }
  }
}

/// Rows and columns of very different size, up to the ends of the range, and subnormal numbers.
template <class T, class Backend>
void check_scaled_rows(const Backend& multiply, const gpu::matmul_options& options) {
  using limits = std::numeric_limits<T>;
  operands<T> x({70, 66, 64}, {});
  for (gpu::index_t i = 0; i < 70; ++i) {
    const int exponent = static_cast<int>(i % 7 - 3) * (limits::max_exponent / 8);
    for (gpu::index_t l = 0; l < 64; ++l) x.a.view()(i, l) = std::ldexp(x.a.view()(i, l), exponent);
  }
  for (gpu::index_t l = 0; l < 64; ++l) {
    x.b.view()(l, 5) = std::ldexp(x.b.view()(l, 5), limits::max_exponent / 3);
    x.a.view()(8, l) = static_cast<T>(l + 1) * limits::denorm_min();
    x.b.view()(l, 6) = std::ldexp(T{1}, limits::max_exponent / 2);
    x.a.view()(11, l) = 0;
  }
  multiply(std::as_const(x.a).view(), std::as_const(x.b).view(), x.c.view(), options);
  for (gpu::index_t i = 0; i < 70; ++i) {
    for (gpu::index_t j = 0; j < 66; ++j) {
      const auto expected =
          matmul_reference(std::as_const(x.a).view(), std::as_const(x.b).view(), options, i, j);
      const long double bound =
          matmul_error_bound<T>(expected, 64, options.variant) + 64 * limits::denorm_min();
      if (!(std::fabs(static_cast<long double>(x.c.view()(i, j)) - expected.value) <= bound)) {
        FAIL("element " << i << ", " << j << ": " << x.c.view()(i, j));
      }
    }
  }
}

}  // namespace gpu_test
