// Sums of doubles by exact arithmetic, included by body.hpp (and compiled with it once
// per instruction set).
//
// Where the elements of a strip do not differ too much in magnitude, each splits without error into
// two parts on a coarse and a fine grid so that whatever sums of either part occur are exact: then
// a running sum, which adds what enters a window and subtracts what leaves it, loses nothing, and
// the sum of both parts is the sum of the window, rounded once. With |x| < 2^E and w <= 2^c the
// coarse grid is 2^(E + c - 52), the fine one 2^(E + 2 c - 106): 85 bits below 2^E at w = 1000, so
// that elements down to 2^(E - 32) keep all their bits. Every element is checked as it enters.
// Where one fails, some outputs are summed in blocks of compensated sums with a bound of their
// error; a window for which that bound does not decide the rounding is summed exactly. All three
// round the same sum once, so the bits do not depend on which of them ran, nor on the rest of the
// strip.

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

// Beyond, hardly a strip of random numbers would fit the grids.
constexpr index_t longest_exact_window = 8192;
// Grids are made for elements this many powers of two larger than any seen.
constexpr int spare_powers = 2;

GPU_SIMILARITY_INLINE double power_of_two(int exponent) {  // of a normal number
  const unsigned long long bits = static_cast<unsigned long long>(exponent + 1023) << 52;
  double power;
  __builtin_memcpy(&power, &bits, sizeof(power));
  return power;
}

// What rounds to the grids when it is added and subtracted again.
struct exact_grids {
  double coarse = 0;
  double fine = 0;
  double bound = 0;  // x + bound keeps the exponent of bound where x is small enough
};

// For windows of elements below 2^exponent. False where the range of double is too short.
GPU_SIMILARITY_INLINE bool make_grids(int exponent, index_t window, exact_grids& grids) {
  constexpr int least = -1000;  // so that no grid is finer than what doubles have
  constexpr int most = 1000;
  if (exponent > most) return false;
  if (exponent < least) exponent = least;
  int growth = 4;  // the sums of 8 differences of elements are exact too
  while ((index_t{1} << growth) < window) ++growth;
  const int fine = exponent + 2 * growth - 106 < -1074 ? -1074 : exponent + 2 * growth - 106;
  grids.coarse = 1.5 * power_of_two(exponent + growth);
  grids.fine = 1.5 * power_of_two(fine + 52);
  grids.bound = 1.5 * power_of_two(exponent + 1);
  return true;
}

// Splits elements and notes those that do not fit the grids.
class splitter {
 public:
  explicit splitter(const exact_grids& grids)
      : coarse_(vec{} + grids.coarse), fine_(vec{} + grids.fine), bound_(vec{} + grids.bound) {}

  [[nodiscard]] GPU_SIMILARITY_INLINE sum<2> split(vec x) const {
    const vec high = (x + coarse_) - coarse_;
    return {high, x - high};
  }
  GPU_SIMILARITY_INLINE sum<2> split_checked(vec x) {
    const sum<2> both = split(x);
    const vec kept = (both.low + fine_) - fine_;
    misfits_ |= (int_vec)kept ^ (int_vec)both.low;
    too_large_ |= (int_vec)(x + bound_) ^ (int_vec)bound_;
    return both;
  }
  // Whether all elements so far fitted. A NaN or Inf does not: its low part is NaN, and the
  // exponent of its sum with the bound is another.
  [[nodiscard]] GPU_SIMILARITY_INLINE bool fits() const {
    // -0 as a low part is kept as 0.
    constexpr long long exponent_and_sign = static_cast<long long>(0xFFF0000000000000U);
    const int_vec wrong = (misfits_ & ~(1LL << 63)) | (too_large_ & exponent_and_sign);
    long long any = 0;
    for (int i = 0; i < lanes; ++i) any |= wrong[i];
    return any == 0;
  }

 private:
  const vec coarse_;
  const vec fine_;
  const vec bound_;
  int_vec misfits_ = {};
  int_vec too_large_ = {};
};

// Lanes from `From` lanes below, and 0 where there are none.
template <int From, int... I>
GPU_SIMILARITY_INLINE vec moved_up(vec v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(vec{}, v, (I < From ? I : I - From + lanes)...);
}
// The last lane in all of them.
template <int... I>
GPU_SIMILARITY_INLINE vec last_lane(vec v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (0 * I + lanes - 1)...);
}
constexpr std::make_integer_sequence<int, lanes> every_lane;

// A sum that steps from output to output, `lanes` of them at a time.
struct running_sum {
  vec next = vec{};  // the sum of the first lane, in all lanes

  GPU_SIMILARITY_INLINE vec advance(vec steps) {
    vec up_to = steps + moved_up<1>(steps, every_lane);
    if constexpr (lanes > 2) up_to += moved_up<2>(up_to, every_lane);
    if constexpr (lanes > 4) up_to += moved_up<4>(up_to, every_lane);
    const vec sums = next + moved_up<1>(up_to, every_lane);
    next += last_lane(up_to, every_lane);
    return sums;
  }
};

// A strip of windows of 2 elements and more.
class exact_strip {
 public:
  explicit exact_strip(const strip_request& request) : request_(request) {}

  // `give_up(request)` sums some outputs that do not fit the grids.
  template <class GiveUp>
  void run(GiveUp give_up) {
    alignas(64) double values[strip_pass_elements];
    bool has_grids = *request_.exponent != no_exponent && make(*request_.exponent);
    bool are_own = false;
    const index_t least_given_up =
        8 * request_.window > strip_pass_elements ? 8 * request_.window : strip_pass_elements;
    index_t given_up = least_given_up;
    for (index_t first = 0; first < request_.outputs;) {
      const index_t left = request_.outputs - first;
      const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
      if (has_grids && sum_outputs(request_.first + first, count, values)) {
        request_.emit(request_.first + first, count, values);
        first += count;
        given_up = least_given_up;
      } else if (!are_own) {  // the grids of another strip: once more, where its own are others
        are_own = true;
        const int exponent = largest_exponent();
        int& known = *request_.exponent;
        if (known < exponent || known > exponent + spare_powers) {
          known = exponent + spare_powers;
          has_grids = make(known);
        }
      } else {
        strip_request part = request_;
        part.first += first;
        part.outputs = has_grids && given_up < left ? given_up : left;
        give_up(part);
        first += part.outputs;
        given_up *= 2;
      }
    }
  }

 private:
  bool make(int exponent) {
    is_running_ = false;
    return make_grids(exponent, request_.window, grids_);
  }

  // The means of `count` outputs. False where an element does not fit the grids.
  bool sum_outputs(index_t place, index_t count, double* values) {
    const index_t whole = (count + strip_lanes - 1) / strip_lanes * strip_lanes;
    splitter split(grids_);
    // Few elements are added for each window where that takes less than running sums.
    if (request_.window < 8 && (lanes < 8 || request_.outputs < 1024)) {
      const double* from = request_.stage(place, whole + strip_lanes, staged_[0]);
      [&]<int... Less>(std::integer_sequence<int, Less...>) {
        ((request_.window == Less + 2 ? sum_few<Less + 2>(from, whole, split, values) : void()),
         ...);
      }(std::make_integer_sequence<int, 6>());
      return split.fits();
    }
    if (!is_running_) start(place, split);
    const double* leaving = request_.stage(place, whole, staged_[0]);
    const double* entering = request_.stage(place + request_.window, whole, staged_[1]);
    const vec divisor = vec{} + request_.divisor;
    const vec inverse = vec{} + 1.0 / request_.divisor;
    running_sum high = high_;
    running_sum low = low_;
    for (index_t i = 0; i < whole; i += lanes) {
      const auto in = split.split_checked(load(entering + i));
      const auto out = split.split(load(leaving + i));
      const vec total = high.advance(in.high - out.high) + low.advance(in.low - out.low);
      store(values + i, divided<true>(total, divisor, inverse));
    }
    high_ = high;
    low_ = low;
    is_running_ = split.fits();
    return is_running_;
  }

  // The sums of the window that begins at `place`.
  void start(index_t place, splitter& split) {
    high_ = {};
    low_ = {};
    for (index_t done = 0; done < request_.window; done += strip_pass_elements) {
      const index_t left = request_.window - done;
      const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
      const double* from = request_.stage(place + done, count, staged_[0]);
      for (index_t k = 0; k < count; ++k) {
        const auto both = split.split_checked(vec{} + from[k]);
        high_.next += both.high;
        low_.next += both.low;
      }
    }
  }

  template <int Window>
  void sum_few(const double* from, index_t whole, splitter& split, double* values) const {
    const vec divisor = vec{} + request_.divisor;
    const vec inverse = vec{} + 1.0 / request_.divisor;
    alignas(64) double parts_of[2 * level_doubles];
    for (index_t i = 0; i < whole + strip_lanes; i += lanes) {
      put<2>(parts_of + i, level_doubles, split.split_checked(load(from + i)));
    }
    for (index_t i = 0; i < whole; i += lanes) {
      sum<2> total = get<2>(parts_of + i, level_doubles);
      for (int k = 1; k < Window; ++k) {
        const auto both = get<2>(parts_of + i + k, level_doubles);
        total = {total.high + both.high, total.low + both.low};
      }
      store(values + i, divided<true>(total.high + total.low, divisor, inverse));
    }
  }

  // The least E for which all numbers are below 2^E.
  int largest_exponent() {
    const index_t elements = request_.outputs + request_.window - 1;
    unsigned long long largest = 0;
    for (index_t first = 0; first < elements; first += strip_pass_elements) {
      const index_t left = elements - first;
      const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
      const double* values = request_.stage(request_.first + first, count, staged_[0]);
      for (index_t i = 0; i < count; ++i) {
        unsigned long long bits;
        __builtin_memcpy(&bits, values + i, sizeof(bits));
        bits &= ~(1ULL << 63);
        largest = bits > largest && bits < 0x7FFULL << 52 ? bits : largest;
      }
    }
    return static_cast<int>(largest >> 52) - 1022;
  }

  const strip_request& request_;
  exact_grids grids_;
  bool is_running_ = false;  // the sums are those of the next output
  running_sum high_;
  running_sum low_;
  double staged_[2][level_doubles];
};

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
