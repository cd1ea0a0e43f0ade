#pragma once
// Inputs of the benchmarks: each element is a hash of its position, so they are filled by all
// threads and are the same on every machine.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace gpu_bench {

/// 64 well-mixed bits of a number (the finaliser of splitmix64).
constexpr std::uint64_t hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// A number in [0, 1) with 24 random bits.
constexpr double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 40) * 0x1p-24;
}

/// Calls fill(i) for every element of a vector of `count`, on all threads.
template <class T, class Fill>
std::vector<T> generate(std::int64_t count, Fill fill) {
  std::vector<T> values(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = fill(i);
  return values;
}

/// Random values: integers over their whole range, floating point nearly normal (mean 0, sd 1).
template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed = 1) {
  return generate<T>(count, [seed](std::int64_t i) {
    const std::uint64_t bits = hash(hash(seed) + static_cast<std::uint64_t>(i));
    if constexpr (std::is_floating_point_v<T>) {
      // The sum of four uniform numbers, scaled to variance 1.
      double sum = -2;
      for (int part = 0; part < 4; ++part) {
        sum += static_cast<double>((bits >> (16 * part)) & 0xffff) * 0x1p-16;
      }
      return static_cast<T>(sum * 1.7320508075688772);
    } else {
      return static_cast<T>(bits);
    }
  });
}

/// Rows of counts, [rows, cols]: a row's share of zeros is uniform in [least_zeros, most_zeros],
/// every other element uniform in 1 .. largest. (0, 0.5, 40): dense counts, hardly two equal rows;
/// (0.6, 0.98, 10): sparse counts, very many equal rank vectors.
template <class T>
std::vector<T> count_rows(std::int64_t rows, std::int64_t cols, double least_zeros,
                          double most_zeros, int largest, std::uint64_t seed = 1) {
  return generate<T>(rows * cols, [=](std::int64_t i) {
    const auto row = static_cast<std::uint64_t>(i / cols);
    const double zeros = least_zeros + (most_zeros - least_zeros) * unit(hash(~hash(seed) + row));
    const std::uint64_t bits = hash(hash(seed) + static_cast<std::uint64_t>(i));
    if (unit(bits) < zeros) return T{0};
    return static_cast<T>(1 +
                          static_cast<int>((bits & 0xffff) * static_cast<unsigned>(largest) >> 16));
  });
}

}  // namespace gpu_bench
