// Vectors of doubles, over a Level that knows one instruction set. Included inside the unnamed
// namespace of a file compiled for it.
//
// A Level has `vec`, a double or a vector of some; fused(a, b, c) = a b + c; and combine(parts) and
// combine(doubles), the sum of eight partial sums in the order of stats/unit_rows.hpp.
template <class Level>
struct doubles : Level {
  using vec = typename Level::vec;
  static constexpr index_t lanes = sizeof(vec) / sizeof(double);
  static vec zero() { return vec{}; }
  static vec spread(double x) { return x - vec{}; }  // x + 0 would lose the sign of -0
  static vec spread(const double* p) { return spread(*p); }
  static vec load(const double* p) {
    vec out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
  }
  static void store(double* p, vec a) { __builtin_memcpy(p, &a, sizeof a); }
};

// Eight doubles, for kernels_unit_row_body.hpp and kernels_rounding_body.hpp. Level has besides
//   magnitude(a), most(a, b), all_at_most(parts, parts)
//   from(int16* or int32*), to_int16(parts, int16*)   of whole numbers
template <class Level>
struct eight_doubles {
  using part_of = doubles<Level>;
  static constexpr std::size_t lanes = part_of::lanes;
  static constexpr std::size_t parts = 8 / lanes;
  typename part_of::vec at[parts];

  template <class Function>
  static inline __attribute__((always_inline)) eight_doubles each(const Function& function) {
    eight_doubles out;
    for (std::size_t i = 0; i < parts; ++i) out.at[i] = function(i);
    return out;
  }
  static eight_doubles zero() { return spread(0); }
  static eight_doubles spread(double x) {
    return each([&](std::size_t) { return part_of::spread(x); });
  }
  static eight_doubles load(const double* p) {
    return each([&](std::size_t i) { return part_of::load(p + i * lanes); });
  }
  static eight_doubles from(const double* p) { return load(p); }
  template <class Integer>
  static eight_doubles from(const Integer* p) {
    return each([&](std::size_t i) { return Level::from(p + i * lanes); });
  }
  void store(double* p) const {
    for (std::size_t i = 0; i < parts; ++i) part_of::store(p + i * lanes, at[i]);
  }
  void to_int16(std::int16_t* p) const { Level::to_int16(at, p); }
  friend eight_doubles operator+(const eight_doubles& a, const eight_doubles& b) {
    return each([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
  friend eight_doubles operator-(const eight_doubles& a, const eight_doubles& b) {
    return each([&](std::size_t i) { return a.at[i] - b.at[i]; });
  }
  friend eight_doubles operator*(const eight_doubles& a, const eight_doubles& b) {
    return each([&](std::size_t i) { return a.at[i] * b.at[i]; });
  }
  friend eight_doubles operator/(const eight_doubles& a, const eight_doubles& b) {
    return each([&](std::size_t i) { return a.at[i] / b.at[i]; });
  }
  static eight_doubles fused(const eight_doubles& a, const eight_doubles& b,
                             const eight_doubles& c) {
    return each([&](std::size_t i) { return Level::fused(a.at[i], b.at[i], c.at[i]); });
  }
  static eight_doubles magnitude(const eight_doubles& a) {
    return each([&](std::size_t i) { return Level::magnitude(a.at[i]); });
  }
  static eight_doubles most(const eight_doubles& a, const eight_doubles& b) {
    return each([&](std::size_t i) { return Level::most(a.at[i], b.at[i]); });
  }
  static bool all_at_most(const eight_doubles& a, const eight_doubles& b) {
    return Level::all_at_most(a.at, b.at);
  }
};
