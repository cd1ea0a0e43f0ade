#pragma once
// Which integers a double holds.

#include <cstdint>
#include <type_traits>

namespace gpu::inline v0::detail {

/// Whether a double cannot hold every value of T.
template <class T>
inline constexpr bool is_inexact = std::is_integral_v<T> && sizeof(T) == sizeof(std::int64_t);

/// Whether a double surely holds `value` and no neighbour of it turns into the same double.
template <class T>
constexpr bool is_exact_double(T value) {
  constexpr T most = T{1} << 53;
  if constexpr (std::is_signed_v<T>) {
    return value >= -most && value <= most;
  } else {
    return value <= most;
  }
}

}  // namespace gpu::inline v0::detail
