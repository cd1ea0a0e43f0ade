#pragma once
// Values as unsigned integers of the same order: what every ranking and selecting loop compares.

#include <bit>
#include <cstdint>
#include <type_traits>

#include <gpu/matrix_view.hpp>

namespace gpu::inline v0::detail {

template <int Bytes>
struct unsigned_of_size;
template <>
struct unsigned_of_size<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of_size<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of_size<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of_size<8> {
  using type = std::uint64_t;
};

/// The unsigned integer as wide as T.
template <class T>
using ordered_key_t = typename unsigned_of_size<static_cast<int>(sizeof(T))>::type;

/// The key of every NaN; above the key of +Inf.
template <class T>
inline constexpr ordered_key_t<T> nan_key = static_cast<ordered_key_t<T>>(~ordered_key_t<T>{0});

/// key(a) < key(b) exactly where a < b, and key(a) == key(b) exactly where a == b: so -0.0 has the
/// key of 0.0. Every NaN has nan_key.
template <class T>
constexpr ordered_key_t<T> ordered_key(T value) {
  using key = ordered_key_t<T>;
  constexpr key top = static_cast<key>(key{1} << (sizeof(T) * 8 - 1));
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return nan_key<T>;
    const key bits = value == T{0} ? key{0} : std::bit_cast<key>(value);
    // A set sign bit turns the order of the rest round; a clear one puts it above them.
    return (bits & top) != 0 ? static_cast<key>(~bits) : static_cast<key>(bits | top);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<key>(static_cast<key>(value) ^ top);
  } else {
    return value;
  }
}

/// The floating-point number of a key; 0.0 for either zero.
template <class T>
constexpr T value_of_key(ordered_key_t<T> key) {
  static_assert(std::is_floating_point_v<T>);
  constexpr auto top = static_cast<ordered_key_t<T>>(ordered_key_t<T>{1} << (sizeof(T) * 8 - 1));
  return std::bit_cast<T>((key & top) != 0 ? key ^ top : ~key);
}

}  // namespace gpu::inline v0::detail
