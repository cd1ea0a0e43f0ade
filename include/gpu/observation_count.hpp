#pragma once
/// @file
/// A number of observations: of columns, or a real number where columns depend on each other.

#include <type_traits>

namespace gpu {
inline namespace v0 {

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
