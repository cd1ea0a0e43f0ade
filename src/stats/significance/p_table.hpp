#pragma once
// p of a correlation by evaluating one polynomial. For one number of observations p is a smooth
// function of |r|, so a table of polynomials is made once per call. Host and device evaluate it to
// the same bits: additions, multiplications and integer operations in one fixed order, nothing
// fused.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/host_device.hpp"

namespace gpu::stats {

/// p over one interval of |r|: scale * sum of coefficients[i] (|r| - centre)^i. The scale is a
/// power of two, 0 where p is 0.
struct alignas(128) p_piece {
  static constexpr int degree = 13;
  double centre;
  double scale;
  double coefficients[degree + 1];
};

/// Two-sided p of every |r| for one number of observations. It is trivially copyable, so that a
/// kernel reads a copy of its bytes. p never grows with |r|: where p changes by less than the
/// rounding errors of its evaluation from one double to the next, |r| is rounded to a grid first.
struct p_table {
  static constexpr int most_pieces = 480;
  static constexpr int most_bins = 4096;

  p_piece pieces[most_pieces];
  /// The piece of bin b, which holds x = 1 - r^2 by its bits: (bits of 1.0 - bits of x) >> shift.
  std::uint16_t piece_of_bin[most_bins];
  double observations;  ///< Those that it is made for.
  double grid_end;      ///< |r| below it is rounded to the grid.
  double grid_rounder;  ///< Adding and subtracting it rounds to the grid.
  double least_p;       ///< No p is below it.
  std::uint64_t last_bin;
  int shift;
  int pieces_used;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double two_sided_p(double r) const;
};

/// p of a correlation as a function that kernels take by value. `table` is in the memory of the
/// caller, host or device. NaN gives NaN.
struct p_function {
  const p_table* table;
  tail side;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double operator()(double r) const;
};

/// The table for this many observations, a real number from 3 on, of p that is at least `least_p`.
/// Making one takes a fraction of a millisecond; the last few are remembered. Safe to call from
/// several threads.
std::shared_ptr<const p_table> p_table_for(observation_count observations, double least_p = 0);

namespace p_arithmetic {

// nvcc fuses a product and a sum unless told otherwise; these are never fused.
GPU_SIMILARITY_HOST_DEVICE inline double add(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
GPU_SIMILARITY_HOST_DEVICE inline double multiply(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
GPU_SIMILARITY_HOST_DEVICE inline std::uint64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

inline constexpr std::uint64_t bits_of_one = 0x3ff0000000000000u;

}  // namespace p_arithmetic

GPU_SIMILARITY_HOST_DEVICE inline double p_table::two_sided_p(double r) const {
  using namespace p_arithmetic;
  const double magnitude = fabs(r);
  const double rounded = add(add(magnitude, grid_rounder), -grid_rounder);
  const double m = magnitude < grid_end ? rounded : magnitude;
  const double x = add(1.0, -multiply(m, m));
  // x = 0 and NaN fall outside: the last bin's piece is 0 everywhere, and keeps a NaN.
  const std::uint64_t bin = (bits_of_one - bits_of(x)) >> shift;
  const p_piece& piece = pieces[piece_of_bin[bin < last_bin ? bin : last_bin]];
  const double d = add(m, -piece.centre);
  double sum = piece.coefficients[p_piece::degree];
  for (int i = p_piece::degree - 1; i >= 0; --i) {
    sum = add(multiply(sum, d), piece.coefficients[i]);
  }
  const double p = multiply(sum, piece.scale);
  return p < least_p ? least_p : p;  // a NaN stays
}

GPU_SIMILARITY_HOST_DEVICE inline double p_function::operator()(double r) const {
  const double p = table->two_sided_p(r);
  if (side == tail::two_sided) return p;
  const double half = p_arithmetic::multiply(p, 0.5);
  const bool in_the_tail = side == tail::greater ? r > 0 : r < 0;
  return in_the_tail ? half : p_arithmetic::add(1.0, -half);
}

}  // namespace gpu::stats
