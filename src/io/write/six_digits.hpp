#pragma once
// Numbers in six significant digits, as printf's %g, at a tenth of its cost.

#include <cstring>
#include <string_view>

namespace gpu::io {

/// Copies `text` to `out`, which has room; returns the end.
inline char* append(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

/// The longest text: "-1.23457e-308".
inline constexpr int six_digits_longest = 13;

/// Writes `value` to `out`, which has room; returns the end. The text is that of %g (but for the
/// sign of a zero); where a value lies within about 1e-9 of the middle between two texts, either
/// may be taken, the same on every machine.
char* append_six_digits(char* out, double value);

/// The longest text of append_digits, as "-1.2345678901234567e-308".
inline constexpr int digits_longest = 24;

/// The text of `value` in `digits` significant digits, 1 to 17, as printf's %.*g, where NaN is
/// "NaN"; 0: as append_six_digits().
char* append_digits(char* out, double value, int digits);

}  // namespace gpu::io
