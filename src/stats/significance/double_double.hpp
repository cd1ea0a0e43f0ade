#pragma once
// Numbers of about 106 bits, as unevaluated sums of two doubles (T. J. Dekker, A floating-point
// technique for extending the available precision, Numerische Mathematik 18, 1971). Basic
// operations alone, so that every machine gets the same bits.

#include <cmath>

namespace gpu::inline v0::detail {

/// high + low, |low| <= ulp(high) / 2.
struct double_double {
  double high;
  double low;
};

/// a + b where |a| >= |b|.
inline double_double ordered_sum_of(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b, exactly.
inline double_double sum_of(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a b, exactly.
inline double_double product_of(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline double_double operator+(double_double a, double_double b) {
  const double_double sum = sum_of(a.high, b.high);
  return ordered_sum_of(sum.high, sum.low + (a.low + b.low));
}

inline double_double operator*(double_double a, double_double b) {
  const double_double product = product_of(a.high, b.high);
  return ordered_sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline double_double operator/(double_double a, double_double b) {
  const double first = a.high / b.high;
  const double_double back = product_of(first, b.high);
  const double rest = ((a.high - back.high) - back.low) + (a.low - first * b.low);
  return ordered_sum_of(first, rest / b.high);
}

/// The square root of a > 0.
inline double_double square_root(double_double a) {
  const double root = std::sqrt(a.high);
  const double_double square = product_of(root, root);
  const double rest = ((a.high - square.high) - square.low) + a.low;
  return ordered_sum_of(root, rest / (2 * root));
}

/// base^(halves / 2) for base > 0 and halves >= -1.
inline double_double half_power(double_double base, long long halves) {
  const double_double root = halves % 2 != 0 ? square_root(base) : double_double{1, 0};
  if (halves < 0) return double_double{1, 0} / root;
  double_double power = root;
  for (long long left = halves / 2; left > 0; left /= 2) {
    if (left % 2 != 0) power = power * base;
    base = base * base;
  }
  return power;
}

/// base^(fraction / 2) for base > 0 and fraction in [0, 1): a square root for each binary digit.
inline double_double root_power(double_double base, double fraction) {
  double_double power{1, 0};
  for (double_double root = square_root(base); fraction > 0;) {
    root = square_root(root);
    fraction *= 2;
    if (fraction < 1) continue;
    power = power * root;
    fraction -= 1;
  }
  return power;
}

}  // namespace gpu::inline v0::detail
