// Keys of numbers: unsigned integers in the order of the numbers, and back.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/ordered_key.hpp"
#include "support/catch.hpp"

using gpu::detail::nan_key;
using gpu::detail::ordered_key;
using gpu::detail::value_of_key;

namespace {

template <class T>
std::vector<T> numbers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> out;
  for (const T magnitude :
       {T{0}, limits::denorm_min(), limits::min(), static_cast<T>(0.1), T{1},
        std::nextafter(T{1}, T{2}), T{65504}, limits::max(), limits::infinity()}) {
    out.push_back(magnitude);
    out.push_back(-magnitude);
  }
  return out;
}

template <class T>
void check_keys() {
  for (const T a : numbers<T>()) {
    INFO(a);
    const auto key = ordered_key(a);
    const T back = value_of_key<T>(key);
    CHECK(back == a);
    CHECK(std::signbit(back) == (a < 0));  // either zero comes back as 0.0
    CHECK(key < nan_key<T>);
    for (const T b : numbers<T>()) {
      CHECK((key < ordered_key(b)) == (a < b));
      CHECK((key == ordered_key(b)) == (a == b));
    }
  }
  CHECK(ordered_key(std::numeric_limits<T>::quiet_NaN()) == nan_key<T>);
  CHECK(ordered_key(-std::numeric_limits<T>::quiet_NaN()) == nan_key<T>);
  CHECK(std::isnan(value_of_key<T>(nan_key<T>)));
}

}  // namespace

TEST_CASE("Keys of numbers have their order, and give the numbers back", "[ordered_key]") {
  check_keys<float>();
  check_keys<double>();
}
