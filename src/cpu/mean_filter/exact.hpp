// Sums of doubles by exact arithmetic, included by body.hpp (and compiled with it once
// per instruction set).
//
// Where the elements of a strip do not differ too much in magnitude, each splits without error into
// two parts on a coarse and a fine grid so that whatever sums of either part occur are exact: then
// a running sum, which adds what enters a window and subtracts what leaves it, loses nothing, and
// the sum of both parts is the sum of the window, rounded once. With |x| < 2^E and w <= 2^c the
// coarse grid is 2^(E + c - 52), the fine one 2^(E + 2 c - 106): 85 bits below 2^E at w = 1000, so
// that elements down to 2^(E - 32) keep all their bits. Every element is checked as it enters. A
// strip that fails is summed again in blocks of compensated sums with a bound of their error; a
// window for which that bound does not decide the rounding is summed exactly. All three round the
// same sum once, so the bits do not depend on which of them ran, nor on the rest of the strip.

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

// For windows of at least 2 elements below 2^exponent. False where the range of double is too
// short.
GPU_SIMILARITY_INLINE bool make_grids(int exponent, index_t window, exact_grids& grids) {
  constexpr int least = -1000;  // so that no grid is finer than what doubles have
  constexpr int most = 1000;
  if (exponent > most) return false;
  if (exponent < least) exponent = least;
  int growth = 2;
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

  GPU_SIMILARITY_INLINE void split(vec x, vec& high, vec& low) const {
    high = (x + coarse_) - coarse_;
    low = x - high;
  }
  GPU_SIMILARITY_INLINE void split_checked(vec x, vec& high, vec& low) {
    split(x, high, low);
    const vec kept = (low + fine_) - fine_;
    misfits_ |= (int_vec)kept ^ (int_vec)low;
    too_large_ |= (int_vec)(x + bound_) ^ (int_vec)bound_;
  }
  GPU_SIMILARITY_INLINE void take_checks(const splitter& other) {
    misfits_ = other.misfits_;
    too_large_ = other.too_large_;
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

// The strip as 8 segments side by side, each with a running sum.
class exact_lanes {
 public:
  exact_lanes(const strip_request& request, index_t segment, const exact_grids& grids)
      : request_(request), segment_(segment), splitter_(grids) {}

  // False where an element does not fit the grids; then what was emitted is wrong.
  bool run() {
    const index_t before = request_.window - 1;
    for (index_t done = 0; done < before; done += pass_rows) {
      add_rows(done, before - done < pass_rows ? before - done : pass_rows);
    }
    for (index_t first = 0; first < segment_; first += pass_rows) {
      if (!splitter_.fits()) return false;
      write_pass(first, segment_ - first < pass_rows ? segment_ - first : pass_rows);
    }
    return splitter_.fits();
  }

 private:
  static constexpr index_t pass_rows = lane_rows::most;
  struct split_sum {
    vec high = vec{};
    vec low = vec{};
    vec leaving_high = vec{};  // of the element that left last
    vec leaving_low = vec{};
  };

  void add_rows(index_t first, index_t count) {
    entering_.stage(request_, segment_, first, count);
    splitter split = splitter_;
    for (index_t k = 0; k < count; k += 8) {
      lane_block block;
      load_lanes(entering_.row, k, block);
      const index_t valid = count - k < 8 ? count - k : 8;
      for (index_t i = 0; i < valid; ++i) {
        for (int q = 0; q < parts; ++q) {
          vec high;
          vec low;
          split.split_checked(block.at[i][q], high, low);
          sums_[q].high += high;
          sums_[q].low += low;
        }
      }
    }
    splitter_.take_checks(split);
  }

  void write_pass(index_t first, index_t count) {
    entering_.stage(request_, segment_, first + request_.window - 1, count);
    leaving_.stage(request_, segment_, first, count);
    alignas(64) double values[strip_lanes * pass_rows];
    const vec inverse = vec{} + 1.0 / request_.divisor;
    const vec divisor = vec{} + request_.divisor;
    splitter split = splitter_;
    split_sum sum[parts];
    for (int q = 0; q < parts; ++q) sum[q] = sums_[q];
    for (index_t k = 0; k < count; k += 8) {
      lane_block enters;
      lane_block leaves;
      load_lanes(entering_.row, k, enters);
      load_lanes(leaving_.row, k, leaves);
      for (int i = 0; i < 8; ++i) {
        for (int q = 0; q < parts; ++q) {
          vec entering_high;
          vec entering_low;
          split.split_checked(enters.at[i][q], entering_high, entering_low);
          split_sum& own = sum[q];
          own.high += entering_high - own.leaving_high;
          own.low += entering_low - own.leaving_low;
          enters.at[i][q] = divided<true>(own.high + own.low, divisor, inverse);
          split.split(leaves.at[i][q], own.leaving_high, own.leaving_low);
        }
      }
      store_lanes(enters, values, pass_rows, k);
    }
    for (int q = 0; q < parts; ++q) sums_[q] = sum[q];
    splitter_.take_checks(split);
    for (index_t lane = 0; lane < strip_lanes; ++lane) {
      request_.emit(request_.first + lane * segment_ + first, count, values + lane * pass_rows);
    }
  }

  const strip_request& request_;
  const index_t segment_;
  splitter splitter_;
  split_sum sums_[parts];
  lane_rows entering_;
  lane_rows leaving_;
};

// Windows of 2 to 7 elements: each from its split elements.
template <int Window>
bool run_short_exactly(const strip_request& request, const exact_grids& grids) {
  const vec divisor = vec{} + request.divisor;
  const vec inverse = vec{} + 1.0 / request.divisor;
  splitter split(grids);
  double staged[level_doubles];
  alignas(64) double high[level_doubles];
  alignas(64) double low[level_doubles];
  alignas(64) double values[strip_pass_elements];
  for (index_t first = 0; first < request.outputs && split.fits(); first += strip_pass_elements) {
    const index_t left = request.outputs - first;
    const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
    const index_t rounded_up = (count + strip_lanes - 1) / strip_lanes * strip_lanes;
    const double* from = request.stage(request.first + first, rounded_up + strip_lanes, staged);
    for (index_t i = 0; i < rounded_up + strip_lanes; i += lanes) {
      vec high_part;
      vec low_part;
      split.split_checked(load(from + i), high_part, low_part);
      store(high + i, high_part);
      store(low + i, low_part);
    }
    for (index_t i = 0; i < rounded_up; i += lanes) {
      vec high_sum = load(high + i);
      vec low_sum = load(low + i);
      for (int k = 1; k < Window; ++k) {
        high_sum += load(high + i + k);
        low_sum += load(low + i + k);
      }
      store(values + i, divided<true>(high_sum + low_sum, divisor, inverse));
    }
    request.emit(request.first + first, count, values);
  }
  return split.fits();
}

// The least E for which all elements are below 2^E.
int largest_exponent(const strip_request& request, index_t outputs) {
  double staged[strip_pass_elements + strip_overread];
  const index_t elements = outputs + request.window - 1;
  unsigned long long largest = 0;
  for (index_t first = 0; first < elements; first += strip_pass_elements) {
    const index_t left = elements - first;
    const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
    const double* values = request.stage(request.first + first, count, staged);
    for (index_t i = 0; i < count; ++i) {
      unsigned long long bits;
      __builtin_memcpy(&bits, values + i, sizeof(bits));
      bits &= ~(1ULL << 63);
      largest = bits > largest ? bits : largest;
    }
  }
  return static_cast<int>(largest >> 52) - 1022;
}

// Runs `attempt` with grids that suit the strip: those of the strip before, or, where they do not,
// its own. False where no grids do.
template <class Attempt>
bool sum_on_grids(const strip_request& request, index_t outputs, Attempt attempt) {
  exact_grids grids;
  int& hint = *request.exponent;
  if (hint != no_exponent && make_grids(hint, request.window, grids) && attempt(grids)) return true;
  const int exponent = largest_exponent(request, outputs);
  if (hint >= exponent && hint <= exponent + spare_powers) return false;
  if (!make_grids(exponent + spare_powers, request.window, grids) || !attempt(grids)) return false;
  hint = exponent + spare_powers;
  return true;
}

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
