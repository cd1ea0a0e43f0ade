// Rounding of rows to 16-bit integers (cpu/pairs/search/wide_products.hpp), over an Op that is
// eight doubles: beside what kernels_unit_row_body.hpp asks of one,
//   from(p)              of eight doubles, int16 or int32
//   to_int16(x, out)     of whole numbers
// Included inside the unnamed namespace of a file compiled for one instruction set.
template <class Op, class T>
struct rounding_body {
  static constexpr index_t step = 8;

  // The last elements, and zeros.
  static Op last(const T* values, index_t count) {
    T lane[step] = {};
    for (index_t l = 0; l < count; ++l) lane[l] = values[l];
    return Op::from(lane);
  }

  static double total(const Op& lanes) {
    double s[step];
    lanes.store(s);
    double sum = 0;
    for (const double part : s) sum += part;
    return sum;
  }

  static double square_sum(const T* values, index_t count, double* largest) {
    Op sum = Op::zero();
    Op most = Op::zero();
    const auto take = [&](const Op& x) {
      sum = sum + x * x;
      most = Op::most(Op::magnitude(x), most);
    };
    index_t k = 0;
    for (; k + step <= count; k += step) take(Op::from(values + k));
    if (k < count) take(last(values + k, count - k));
    double s[step];
    most.store(s);
    for (const double lane : s) *largest = lane > *largest ? lane : *largest;
    return total(sum);
  }

  static double round(const T* values, index_t count, double scale, std::int16_t* out) {
    const Op factor = Op::spread(scale);
    const Op to_integer = Op::spread(0x1.8p52);  // added and taken away again: rounds to nearest
    Op lost = Op::zero();
    const auto take = [&](const Op& x, std::int16_t* to) {
      const Op exact = x * factor;
      const Op rounded = (exact + to_integer) - to_integer;
      const Op off = exact - rounded;
      lost = lost + off * off;
      rounded.to_int16(to);
    };
    index_t k = 0;
    for (; k + step <= count; k += step) take(Op::from(values + k), out + k);
    if (k < count) {
      std::int16_t lane[step];
      take(last(values + k, count - k), lane);
      for (index_t l = 0; k + l < count; ++l) out[k + l] = lane[l];
    }
    return total(lost);
  }

  static constexpr rounding_kernels<T> kernels() { return {square_sum, round}; }
};
