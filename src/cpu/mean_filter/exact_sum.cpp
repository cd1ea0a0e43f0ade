#include "cpu/mean_filter/exact_sum.hpp"

#include <bit>
#include <cmath>

namespace gpu::cpu {
namespace {

constexpr int mantissa_bits = 52;
constexpr int least_power = -1074;
constexpr std::int64_t digit_mask = 0xFFFFFFFF;

}  // namespace

void exact_sum::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>(bits >> mantissa_bits & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t mantissa =
      biased == 0 ? fraction : fraction | std::uint64_t{1} << mantissa_bits;
  const int position = biased == 0 ? 0 : biased - 1;
  const int shift = position % digit_bits;
  // The mantissa, shifted, lies in three digits.
  const std::uint64_t low = mantissa << shift;
  const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  const std::int64_t sign = value < 0 ? -1 : 1;
  std::int64_t* digit = digits_.data() + position / digit_bits;
  digit[0] += sign * static_cast<std::int64_t>(low & digit_mask);
  digit[1] += sign * static_cast<std::int64_t>(low >> digit_bits);
  digit[2] += sign * static_cast<std::int64_t>(high);
}

double exact_sum::rounded() const {
  // Carried from below, all digits but the last are 0 to 2^32 - 1: the last one has the sign.
  std::array<std::int64_t, digit_count> digits = digits_;
  const auto carry = [&] {
    for (std::size_t d = 0; d + 1 < digits.size(); ++d) {
      digits[d + 1] += digits[d] >> digit_bits;  // rounds down
      digits[d] &= digit_mask;
    }
  };
  carry();
  const bool negative = digits.back() < 0;
  if (negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    carry();
  }
  std::size_t top = digits.size() - 1;
  while (top > 0 && digits[top] == 0) --top;
  // 64 bits from the top one on, and whether anything follows.
  const auto at = [&](std::size_t back) {
    return back > top ? std::uint64_t{0} : static_cast<std::uint64_t>(digits[top - back]);
  };
  if (at(0) == 0) return 0;
  const auto used = static_cast<int>(std::bit_width(at(0)));  // at most 32
  std::uint64_t head = at(0) << digit_bits | at(1);
  head = head << (digit_bits - used) | at(2) >> used;
  const std::uint64_t below = at(2) & ((std::uint64_t{1} << used) - 1);
  bool rest = below != 0;
  for (std::size_t back = 3; back <= top && !rest; ++back) rest = at(back) != 0;
  const int head_power =
      static_cast<int>(top) * digit_bits + used - 64 + least_power;  // of the head's last bit

  // 53 bits, or fewer for a subnormal: all that lies below 2^-1074 is 0.
  constexpr int dropped = 64 - (mantissa_bits + 1);
  std::uint64_t mantissa = head >> dropped;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t tail = head & (2 * half - 1);
  if (tail > half || (tail == half && (rest || (mantissa & 1) != 0))) ++mantissa;
  const double magnitude = std::ldexp(static_cast<double>(mantissa), head_power + dropped);
  return negative ? -magnitude : magnitude;
}

}  // namespace gpu::cpu
