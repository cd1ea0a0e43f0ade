#pragma once
// What golden jobs draw their shapes, tables and options from: the same on every machine and
// library.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

#include <gpu/similarity.hpp>

namespace gpu_test::golden {

/// Numbers that depend on the seed alone. Distributions of the standard library may differ.
class draws {
 public:
  explicit draws(std::uint64_t seed) : engine_(seed) {}
  /// From 0 to end - 1.
  std::uint64_t below(std::uint64_t end) { return (engine_() >> 11) % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  /// About normal with a deviation of 1, a multiple of 2^-14: floats hold it and small sums of it.
  double normal() {
    std::int64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<std::int64_t>(below(16384)) - 8192;
    return static_cast<double>(sum) / 16384;
  }

 private:
  std::mt19937_64 engine_;
};

enum class values { normal, alike, levels, counts, sparse };

/// A table [rows, cols] of such values. Some rows are constant, some repeat an earlier row.
/// Integers, except for `normal` and `alike`.
inline gpu::matrix<double> draw_table(draws& from, gpu::index_t rows, gpu::index_t cols,
                                      values kind) {
  gpu::matrix<double> out(rows, cols);
  gpu::matrix<double> profiles(3, cols);
  for (gpu::index_t p = 0; p < 3; ++p) {
    for (gpu::index_t c = 0; c < cols; ++c) profiles(p, c) = from.normal();
  }
  for (gpu::index_t r = 0; r < rows; ++r) {
    const auto profile = static_cast<gpu::index_t>(from.below(3));
    const double sign = from.one_in(4) ? -2 : 2;
    for (gpu::index_t c = 0; c < cols; ++c) {
      switch (kind) {
        case values::normal:
          out(r, c) = from.normal();
          break;
        case values::alike:
          out(r, c) = from.normal() + sign * profiles(profile, c);
          break;
        case values::levels:
          out(r, c) = static_cast<double>(from.below(5));
          break;
        case values::counts:
          out(r, c) = static_cast<double>(from.below(240)) - 120;
          break;
        case values::sparse:
          out(r, c) = from.one_in(6) ? static_cast<double>(1 + from.below(20)) : 0;
          break;
      }
    }
    const bool repeats = r > 0 && from.one_in(11);
    const auto earlier = static_cast<gpu::index_t>(from.below(static_cast<std::uint64_t>(r) + 1));
    const bool is_constant = rows > 4 && from.one_in(17);
    for (gpu::index_t c = 0; c < cols; ++c) {
      if (repeats) out(r, c) = out(earlier, c);
      if (is_constant) out(r, c) = 3;
    }
  }
  return out;
}

enum class holes { none, rows, scattered, patterns };

/// Puts NaN into `table`: into a few rows, anywhere, or in one of three sets of columns a row.
inline void draw_holes(draws& from, gpu::matrix<double>& table, holes kind) {
  const double hole = std::numeric_limits<double>::quiet_NaN();
  for (gpu::index_t r = 0; r < table.rows(); ++r) {
    const bool has_some = kind == holes::rows ? from.one_in(7) : kind != holes::none;
    const std::uint64_t pattern = from.below(3);
    for (gpu::index_t c = 0; c < table.cols(); ++c) {
      const bool is_drawn = from.one_in(20);
      const bool is_hole =
          kind == holes::patterns ? static_cast<std::uint64_t>(c) % 7 < pattern : is_drawn;
      if (has_some && is_hole) table(r, c) = hole;
    }
  }
}

}  // namespace gpu_test::golden
