#pragma once
// A checksum of a result's bytes, for results that have none of their own.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpu/matrix.hpp>

namespace gpu_bench {

/// Takes values one after the other; the order counts.
class digest {
 public:
  template <class T>
  void add(std::span<const T> values) {
    for (const T& value : values) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value < sizeof bits ? sizeof value : sizeof bits);
      sum_ = (sum_ ^ bits) * 0x9e3779b97f4a7c15u;
      sum_ ^= sum_ >> 29;
    }
  }
  [[nodiscard]] std::string text() const {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(sum_));
    return out;
  }

 private:
  std::uint64_t sum_ = 0x243f6a8885a308d3u;
};

template <class T>
std::string digest_of(const std::vector<T>& values) {
  digest out;
  out.add(std::span<const T>(values));
  return out.text();
}

template <class T>
std::string digest_of(gpu::matrix_view<T> values) {
  digest out;
  const auto cols = static_cast<std::size_t>(values.cols());
  for (gpu::index_t i = 0; i < values.rows(); ++i) {
    out.add(std::span<const std::remove_const_t<T>>(values.row(i), cols));
  }
  return out.text();
}

}  // namespace gpu_bench
