#pragma once
// The sum of doubles, rounded once.

#include <array>
#include <cstdint>

namespace gpu::cpu {

/// Adds doubles without any rounding: a fixed-point number as wide as the range of double, in
/// digits of 32 bits. Slow; for the few sums whose rounding a faster method cannot decide.
class exact_sum {
 public:
  /// Adds a finite value; up to 2^30 of them.
  void add(double value);
  /// The double nearest to the sum, ties to even; infinite where the sum is beyond double.
  [[nodiscard]] double rounded() const;

 private:
  static constexpr int digit_bits = 32;
  static constexpr int digit_count = 68;  // 2098 bits of a double, and room for carries
  // Digit d counts multiples of 2^(32 d - 1074).
  std::array<std::int64_t, digit_count> digits_ = {};
};

}  // namespace gpu::cpu
