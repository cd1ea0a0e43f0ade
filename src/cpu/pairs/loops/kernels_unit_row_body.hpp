// The passes that make a row of doubles one of unit length, in the order of stats/unit_rows.hpp,
// over an Op that is eight doubles: zero(), spread(x), load(p), from(p) of floats or doubles,
// store(p), + - * /, fused(a, b, c),
// magnitude(a), most(a, b), all_at_most(a, b). Included inside the unnamed namespace of a file
// compiled for one instruction set, after cpu/pairs/loops/kernels.hpp.
//
// What is behind the last element, up to eight, is 0 before and after each pass.
template <class Op>
struct unit_row_body {
  static constexpr index_t step = detail::partial_sums;

  // The first `count` of x, then zeros.
  static Op first(const Op& x, index_t count) {
    double lane[detail::partial_sums];
    x.store(lane);
    for (index_t l = count; l < step; ++l) lane[l] = 0;
    return Op::load(lane);
  }

  // body(eight elements) gives what stands in their place.
  template <class Body>
  static inline __attribute__((always_inline)) void each(double* row, index_t cols,
                                                         const Body& body) {
    const index_t whole = cols / step * step;
    for (index_t k = 0; k < whole; k += step) body(Op::load(row + k)).store(row + k);
    if (whole == cols) return;
    first(body(Op::load(row + whole)), cols - whole).store(row + whole);
  }

  // of_slice(first, count) gives the eight partial sums of a slice.
  template <class Slice>
  static inline __attribute__((always_inline)) double sum_of(index_t cols, const Slice& of_slice) {
    const index_t slice = detail::slice_of_row(cols);
    Op sums = of_slice(index_t{0}, slice);
    for (index_t k = slice; k < cols; k += slice) {
      sums = sums + of_slice(k, cols - k < slice ? cols - k : slice);
    }
    double s[detail::partial_sums];
    sums.store(s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }

  static double largest_of(const Op& lanes) {
    double s[detail::partial_sums];
    lanes.store(s);
    double largest = s[0];
    for (index_t l = 1; l < step; ++l) largest = s[l] > largest ? s[l] : largest;
    return largest;
  }

  // `values` may be `row` itself.
  template <class T>
  static double copy(const T* values, index_t cols, double* row, bool* is_finite) {
    const Op limit = Op::spread(1.7976931348623157e308);
    Op most = Op::zero();
    bool all = true;
    const auto take = [&](const T* from, index_t k) {
      const Op x = Op::from(from);
      x.store(row + k);
      all &= Op::all_at_most(Op::magnitude(x), limit);
      most = Op::most(Op::magnitude(x), most);
    };
    const index_t whole = cols / step * step;
    for (index_t k = 0; k < whole; k += step) take(values + k, k);
    if (whole < cols) {
      T last[step] = {};
      for (index_t l = 0; whole + l < cols; ++l) last[l] = values[whole + l];
      take(last, whole);
    }
    *is_finite = all;
    return largest_of(most);
  }

  static double scale_and_sum(double* row, index_t cols, double scale) {
    const Op factor = Op::spread(scale);
    return sum_of(cols, [&](index_t first, index_t count) {
      Op sum = Op::zero();
      each(row + first, count, [&](const Op& x) {
        const Op scaled = x * factor;
        sum = sum + scaled;
        return scaled;
      });
      return sum;
    });
  }

  static double take_off_and_sum(double* row, index_t cols, double value) {
    const Op less = Op::spread(value);
    return sum_of(cols, [&](index_t begin, index_t count) {
      double* const from = row + begin;
      const index_t whole = count / step * step;
      Op sum = Op::zero();
      for (index_t k = 0; k < whole; k += step) {
        const Op x = Op::load(from + k) - less;
        sum = sum + x;
        x.store(from + k);
      }
      if (whole < count) {
        const Op x = first(Op::load(from + whole) - less, count - whole);
        sum = sum + x;
        x.store(from + whole);
      }
      return sum;
    });
  }

  static double take_off_and_largest(double* row, index_t cols, double value) {
    const Op less = Op::spread(value);
    const index_t whole = cols / step * step;
    Op most = Op::zero();
    for (index_t k = 0; k < whole; k += step) {
      const Op x = Op::load(row + k) - less;
      most = Op::most(Op::magnitude(x), most);
      x.store(row + k);
    }
    if (whole < cols) {
      const Op x = first(Op::load(row + whole) - less, cols - whole);
      most = Op::most(Op::magnitude(x), most);
      x.store(row + whole);
    }
    return largest_of(most);
  }

  static double scale_and_square(double* row, index_t cols, double scale) {
    const Op factor = Op::spread(scale);
    return sum_of(cols, [&](index_t first, index_t count) {
      Op sum = Op::zero();
      each(row + first, count, [&](const Op& x) {
        const Op scaled = x * factor;
        sum = Op::fused(scaled, scaled, sum);
        return scaled;
      });
      return sum;
    });
  }

  static void divide(double* row, index_t cols, double by) {
    const Op divisor = Op::spread(by);
    each(row, cols, [&](const Op& x) { return x / divisor; });
  }

  static constexpr row_passes passes() {
    return {copy<float>,          copy<double>,     scale_and_sum, take_off_and_sum,
            take_off_and_largest, scale_and_square, divide};
  }
};
