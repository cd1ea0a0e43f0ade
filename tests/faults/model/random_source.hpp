#pragma once
// Random numbers that are the same on every system for the same seed.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpu_test {

class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  /// All 64 bits (SplitMix64).
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  /// 0 to n - 1; 0 where n is below 2.
  int below(int n) { return n < 2 ? 0 : static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  /// `from` to `to`, both of them possible.
  int between(int from, int to) { return from + below(to - from + 1); }
  /// Whether something of this chance happens.
  bool happens(double chance) { return unit() < chance; }
  /// [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// About normal: its sum of four is enough for a table.
  double bell() { return unit() + unit() + unit() + unit() - 2; }
  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  template <class Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace gpu_test
