#pragma once
/// @file
/// The types of numbers that the whole library uses: extents, counts and row numbers, and numbers
/// of observations.

#if !defined(_MSVC_LANG) && __cplusplus < 201709L || defined(_MSVC_LANG) && _MSVC_LANG < 201709L
#error \
    "gpu-similarity needs C++20: compile with -std=c++20, or CMake's target_compile_features(TARGET PRIVATE cxx_std_20)"
#endif

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <gpu/export.hpp>

namespace gpu {
inline namespace v0 {

/// Every extent, stride and element count. Never narrowed inside the library.
using index_t = std::int64_t;

/// A stored row number, as edges and neighbour tables hold it: inputs have at most 2^32 - 1 rows.
using node_id = std::uint32_t;

namespace detail {
/// Throws gpu::invalid_argument: an extent that no index_t can hold.
[[noreturn]] GPU_SIMILARITY_EXPORT void throw_extent_beyond_index(std::uint64_t extent);

/// An integer that a caller may have for an extent, as std::size_t.
template <class Integer>
concept extent = std::integral<Integer> && !std::same_as<std::remove_cv_t<Integer>, bool>;

/// Whether some of these types are other integers than index_t.
template <class... Integers>
concept other_extents =
    (extent<Integers> && ...) && !(std::same_as<std::remove_cv_t<Integers>, index_t> && ...);

/// An extent as the library has it.
template <extent Integer>
[[nodiscard]] constexpr index_t to_index(Integer extent) {
  if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) >= sizeof(index_t)) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max())) {
      throw_extent_beyond_index(extent);
    }
  }
  return static_cast<index_t>(extent);
}
}  // namespace detail

/// How many observations a test is computed for. Made from any number, and read as a double: counts
/// are whole, the effective observations of a time series need not be.
class observation_count {
 public:
  /// None.
  constexpr observation_count() = default;
  /// `number` observations.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr observation_count(Number number) : value_(static_cast<double>(number)) {}
  /// The number.
  constexpr operator double() const { return value_; }

 private:
  double value_ = 0;
};

}  // namespace v0
}  // namespace gpu
