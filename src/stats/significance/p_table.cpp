#include "stats/significance/p_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <vector>

#include "stats/significance/double_double.hpp"

namespace gpu::stats {
namespace {

using detail::double_double;
using detail::half_power;
using detail::product_of;
using detail::root_power;

// With nu = observations - 2 and r >= 0, p falls with the slope -f(r), f(r) = c (1 - r^2)^((nu - 2)
// / 2). The table is made with f(0) = 1, from the tail to r = 0 because sums of positive terms keep
// their relative error, and divided by p(0) in the end: c is never needed.

constexpr int degree = p_piece::degree;
// Degree of the Taylor series that a piece's polynomial is made from.
constexpr int series_degree = 22;
// A piece is as wide as all three of these allow.
constexpr double most_fall = 1.9;             // of the logarithm of p
constexpr double most_of_distance = 1.0 / 7;  // half the width, of the distance to the
                                              // singularity at r = 1
constexpr double most_deviations = 0.31;      // half the width, in units of 1 / sqrt(nu): near 0,
                                              // p is that of a normal distribution
// Least change of p, in units of 2^-53 of p, from one argument to the next: twice the error that
// an evaluation has before its last rounding.
constexpr double least_step = 5;
constexpr int no_p_exponent = -1080;  // 2^-1080 rounds to 0 with a margin

constexpr double unit_below_one = std::numeric_limits<double>::epsilon() / 2;

// Numbers far below the range of double: value * 2^exponent, value in [1, 2).
struct scaled {
  double_double value;
  int exponent;
};

scaled normalised(double_double value, int exponent) {
  const int shift = std::ilogb(value.high);
  return {{std::ldexp(value.high, -shift), std::ldexp(value.low, -shift)}, exponent + shift};
}

// 1 - r^2.
double_double complement_of_square(double r) {
  const double_double square = product_of(r, r);
  return double_double{1, 0} + double_double{-square.high, -square.low};
}

// About f / p, from Mills' ratio of the normal distribution.
double hazard_estimate(double r, double nu) {
  const double x = (1 - r) * (1 + r);
  const double slope = nu * r;
  return (slope + std::sqrt(slope * slope + 2.55 * nu * x)) / (2 * x);
}

// An interval of |r| with one polynomial.
struct interval {
  double low;   // its first double
  double high;  // the first double of the next
  double centre;
  double half_width;          // from the centre to the farthest double
  scaled density{{1, 0}, 0};  // f(centre)
  int first_bin = 0;

  interval(double from, double to) : low(from), high(to) {
    // Next to 1 there are few doubles, and one more would count.
    const double last = high > 0.5 ? std::max(low, high - unit_below_one) : high;
    centre = low + (last - low) / 2;
    half_width = std::max({centre - low, last - centre, 0x1p-60});
  }
};

// Shares the bins of x = 1 - r^2 out among pieces, from r = 0 to where p is 0.
class layout {
 public:
  explicit layout(observation_count observations)
      : nu_(observations - 2), halves_(std::floor(nu_ - 2)), fraction_(nu_ - 2 - halves_) {
    // p is about x^(nu / 2) and at most that: the binades of x to cover, counted by its bits, which
    // are a logarithm drawn with straight lines: at most 0.09 or 39 % above the true one.
    const double true_binades = -2.0 * no_p_exponent / nu_;
    const double binades = std::min({52.0, true_binades + 0.09, 1.39 * true_binades});
    int bins_per_binade_log2 = 2;
    while (std::ldexp(binades, bins_per_binade_log2 + 1) < p_table::most_bins - 2) {
      ++bins_per_binade_log2;
    }
    shift_ = 52 - bins_per_binade_log2;
    real_bins_ = binades < 52 ? p_table::most_bins - 1 : (52 << bins_per_binade_log2) + 1;
    // The first try has sufficed for every number of observations that was tried.
    for (double fall = most_fall;; fall *= 1.05) {
      fill(fall);
      if (intervals_.size() < p_table::most_pieces) break;
    }
  }

  [[nodiscard]] const std::vector<interval>& intervals() const { return intervals_; }
  [[nodiscard]] int shift() const { return shift_; }
  [[nodiscard]] int bins() const { return bins_; }

 private:
  // The first |r| of bin b.
  [[nodiscard]] double border(int bin) const {
    const auto bits = p_arithmetic::bits_of_one - (static_cast<std::uint64_t>(bin) << shift_);
    const double x = std::bit_cast<double>(bits);
    const double root = std::sqrt(1 - x);
    if (x > 0.5) return root;
    return 1 - std::floor(x / (1 + root) / unit_below_one) * unit_below_one;
  }

  [[nodiscard]] bool fits(const interval& part, double fall) const {
    const double h = part.half_width;
    const double x = (1 - part.centre) * (1 + part.centre);
    return hazard_estimate(part.centre + h, nu_) * 2 * h <= fall &&
           h <= most_of_distance * (1 - part.centre) &&
           h * h * nu_ <= most_deviations * most_deviations * x;
  }

  // The density is x^((nu - 2) / 2): what it is multiplied by where x is.
  [[nodiscard]] double_double density_step(double_double ratio) const {
    const double_double whole = half_power(ratio, static_cast<long long>(halves_));
    return fraction_ > 0 ? whole * root_power(ratio, fraction_) : whole;
  }

  void fill(double fall) {
    intervals_.clear();
    double_double previous_x{1, 0};
    scaled density{{1, 0}, 0};
    double low = 0;
    for (int bin = 0; bin < real_bins_;) {
      int end = bin + 1;
      interval part(low, border(end));
      while (end < real_bins_) {
        const interval longer(low, border(end + 1));
        if (!fits(longer, fall)) break;
        part = longer;
        ++end;
      }
      const double_double x = complement_of_square(part.centre);
      density = normalised(density.value * density_step(x / previous_x), density.exponent);
      previous_x = x;
      part.density = density;
      part.first_bin = bin;
      intervals_.push_back(part);
      bin = end;
      bins_ = end;
      low = part.high;
      // p is about f x / sqrt(nu) beyond the middle.
      if (density.exponent + std::ilogb(x.high) - std::ilogb(nu_) / 2 < no_p_exponent) break;
    }
  }

  double nu_;
  double halves_;    // nu - 2 as a whole number
  double fraction_;  // and what is left of it
  int shift_ = 0;
  int real_bins_ = 0;
  int bins_ = 0;
  std::vector<interval> intervals_;
};

using series = std::array<double, series_degree + 1>;

// Taylor coefficients of the integral of f(centre + h s) / f(centre) over s from 0 on, h the half
// width, by the differential equation (1 - r^2) f' = -(nu - 2) r f.
series integral_of_density(const interval& part, double nu) {
  const double power = nu - 2;
  const double h = part.half_width;
  const double x = (1 - part.centre) * (1 + part.centre);
  const double first = part.centre * h / x;
  const double second = h * h / x;
  series out{};
  double before = 0;
  double term = 1;
  for (int j = 0; j < series_degree; ++j) {
    out[static_cast<std::size_t>(j + 1)] = term / (j + 1);
    const double next =
        ((2 * j - power) * first * term + (j - 1 - power) * second * before) / (j + 1);
    before = term;
    term = next;
  }
  return out;
}

double value_at(const series& coefficients, double s) {
  double sum = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;) sum = sum * s + coefficients[i];
  return sum;
}

// Lowers the degree by Chebyshev polynomials (C. Lanczos' economisation): of T_n / 2^(n - 1), whose
// leading coefficient is 1, the others are subtracted.
void economise(series& coefficients) {
  for (int n = series_degree; n > degree; --n) {
    double factor = coefficients[static_cast<std::size_t>(n)];
    for (int k = 0; n - 2 * k >= 2; ++k) {
      // The coefficients of s^(n - 2 k) in T_n, each from the one before.
      const double down = static_cast<double>(n - 2 * k) * (n - 2 * k - 1);
      factor *= -down / (4.0 * (k + 1) * (n - k - 1));
      coefficients[static_cast<std::size_t>(n - 2 * k - 2)] -= factor;
    }
    coefficients[static_cast<std::size_t>(n)] = 0;
  }
}

// Whether ratio_in_the_tail converges at once.
bool in_the_tail(double r) {
  return 32 * (1 - r) * (1 + r) <= r * r;
}

// p / f, by the hypergeometric series of I_x in -x / r^2.
double ratio_in_the_tail(double r, double nu) {
  const double x = (1 - r) * (1 + r);
  const double argument = -x / (r * r);
  double term = 1;
  double sum = 1;
  for (int n = 0; n < 12; ++n) {
    term *= (n + 0.5) / (nu / 2 + 1 + n) * argument;
    sum += term;
  }
  return x * sum / (nu * r);
}

class table_maker {
 public:
  static void fill(p_table& out, observation_count observations) {
    table_maker(out, observations).make();
  }

 private:
  table_maker(p_table& out, observation_count observations)
      : out_(out), nu_(observations - 2), layout_(observations), parts_(layout_.intervals()) {
    out_.observations = observations;
  }

  void make() {
    out_.shift = layout_.shift();
    set_grid();
    set_bins();
    set_polynomials();
    set_ends();
  }

  void set_grid() {
    // Where |r| times the hazard reaches least_step, the change from one double to the next does.
    double low = 0;
    double high = 1;
    while (high - low > 1e-3 * high) {
      const double middle = low + (high - low) / 2;
      (middle * hazard_estimate(middle, nu_) < least_step ? low : high) = middle;
    }
    const double least = least_step * 0x1p-53 / hazard_estimate(0, nu_);
    out_.grid_end = high;
    out_.grid_rounder = std::ldexp(1.0, std::ilogb(least) + 1 + 52);
    out_.grid_end = (high + out_.grid_rounder) - out_.grid_rounder;
  }

  void set_bins() {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const int end = k + 1 < parts_.size() ? parts_[k + 1].first_bin : layout_.bins();
      std::fill(out_.piece_of_bin + parts_[k].first_bin, out_.piece_of_bin + end,
                static_cast<std::uint16_t>(k));
    }
    out_.last_bin = static_cast<std::uint64_t>(layout_.bins());
    out_.piece_of_bin[out_.last_bin] = static_cast<std::uint16_t>(parts_.size());
    out_.pieces_used = static_cast<int>(parts_.size()) + 1;
  }

  void set_polynomials() {
    std::vector<double_double> ratio(parts_.size());  // p / f at each centre
    double from_next_centre = 0;                      // p / f(next centre) at the border
    for (std::size_t k = parts_.size(); k-- > 0;) {
      const interval& part = parts_[k];
      series integral = integral_of_density(part, nu_);
      const double h = part.half_width;
      if (k + 1 == parts_.size() || in_the_tail(part.centre)) {
        ratio[k] = {ratio_in_the_tail(part.centre, nu_), 0};
      } else {
        const double fall = density_ratio(parts_[k + 1].density, part.density);
        ratio[k] = detail::sum_of(h * value_at(integral, (part.high - part.centre) / h),
                                  fall * from_next_centre);
      }
      from_next_centre = ratio[k].high - h * value_at(integral, (part.low - part.centre) / h);
      economise(integral);
      p_piece& piece = out_.pieces[k];
      const double share = h / ratio[k].high;
      double power = 1;
      for (int i = 0; i <= degree; ++i) {
        const double constant = i == 0 ? 1.0 : 0.0;
        piece.coefficients[i] = (constant - share * integral[static_cast<std::size_t>(i)]) * power;
        power /= h;
      }
      piece.centre = part.centre;
    }
    const scaled& first = parts_[0].density;
    const double_double all =
        double_double{std::ldexp(from_next_centre, first.exponent), 0} * first.value;
    for (std::size_t k = 0; k < parts_.size(); ++k) scale(k, ratio[k], all);
  }

  static double density_ratio(const scaled& a, const scaled& b) {
    return std::ldexp((a.value / b.value).high, a.exponent - b.exponent);
  }

  // Multiplies the polynomial, whose value at the centre is 1, by p of the centre.
  void scale(std::size_t k, double_double ratio, double_double all) {
    const scaled& density = parts_[k].density;
    scaled p = normalised(density.value * ratio / all, density.exponent);
    p_piece& piece = out_.pieces[k];
    // A power of two below 2^-1074 is no double: the polynomial takes the rest.
    const int exponent = std::max(p.exponent, -1074);
    piece.scale = std::ldexp(1.0, exponent);
    const double mantissa = std::ldexp(p.value.high, p.exponent - exponent);
    for (double& c : piece.coefficients) c *= mantissa;
  }

  void set_ends() {
    out_.pieces[parts_.size()] = {};
    double& constant = out_.pieces[0].coefficients[0];
    while (out_.two_sided_p(0) != 1) {
      constant = std::nextafter(constant, out_.two_sided_p(0) < 1 ? 2 * constant : 0.0);
    }
  }

  p_table& out_;
  double nu_;
  layout layout_;
  const std::vector<interval>& parts_;
};

// The tables made last, for the whole process.
class table_cache {
 public:
  std::shared_ptr<const p_table> find_or_make(observation_count observations, double least_p) {
    if (auto table = find(observations, least_p)) return table;
    auto made = std::make_shared<p_table>();
    table_maker::fill(*made, observations);
    made->least_p = least_p;
    const std::scoped_lock lock(mutex_);
    tables_[next_] = made;
    next_ = (next_ + 1) % tables_.size();
    return made;
  }

 private:
  // 9 MiB: with missing values, pairs of a hundred columns share different numbers of them.
  static constexpr std::size_t most_tables = 128;

  std::shared_ptr<const p_table> find(observation_count observations, double least_p) {
    const std::scoped_lock lock(mutex_);
    for (const auto& table : tables_) {
      if (table && table->observations == observations && table->least_p == least_p) return table;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::array<std::shared_ptr<const p_table>, most_tables> tables_;
  std::size_t next_ = 0;
};

}  // namespace

std::shared_ptr<const p_table> p_table_for(observation_count observations, double least_p) {
  static table_cache tables;
  return tables.find_or_make(observations, least_p);
}

}  // namespace gpu::stats
