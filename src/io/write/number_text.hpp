#pragma once
// Numbers in the fewest digits that give the same value.

#include <cstddef>
#include <cstdint>

namespace gpu::io {

/// The longest text: "-2.2250738585072014e-308".
inline constexpr std::size_t number_longest = 24;

/// Writes `value` to `out`, which has room; returns the end. NaN is "NaN", infinity "inf". Whole
/// numbers and halves, which ranks and counts are, take a few nanoseconds.
char* append_number(char* out, double value);
char* append_number(char* out, float value);

char* append_integer(char* out, long long value);
inline char* append_number(char* out, std::int32_t value) {
  return append_integer(out, value);
}

}  // namespace gpu::io
