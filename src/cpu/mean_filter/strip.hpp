#pragma once
// One strip of a moving mean on the CPU: the loops that are compiled once per instruction set.

#include <gpu/index.hpp>

#include "base/function_ref.hpp"

namespace gpu::cpu {

/// Doubles in one row of a strip: the unit that windows are built of.
inline constexpr index_t strip_lanes = 8;
/// Rows that one pass over the first-level cache handles.
inline constexpr index_t strip_pass_rows = 32;
/// Most elements staged or emitted at once.
inline constexpr index_t strip_pass_elements = strip_pass_rows * strip_lanes;
/// Elements that a pass reads beyond its own.
inline constexpr index_t strip_overread = 24;
/// Rows of a block of sums at most: its sums stay in the second-level cache.
inline constexpr index_t strip_block_rows = 2048;

inline constexpr int no_exponent = -100000;

/// Brings the strip elements first to first + count - 1 (count <= strip_pass_elements +
/// strip_overread) as doubles: in place, or written to `scratch`.
using strip_stage = function_ref<const double*(index_t first, index_t count, double* scratch)>;
/// Receives outputs first to first + count - 1, count <= strip_pass_elements.
using strip_receiver = function_ref<void(index_t first, index_t count, const double* values)>;

/// What a strip computes, and the functions that bring its elements and take its sums.
struct strip_request {
  index_t first = 0;    ///< Added to what `stage` and `emit` are asked for.
  index_t outputs = 0;  ///< Output o is made of strip elements o to o + window - 1.
  index_t window = 1;
  double divisor = 1;  ///< Every sum is divided by it.
  strip_stage stage;
  strip_receiver emit;
  /// `compensated`: all elements of the thread's earlier strips were below this power of two;
  /// no_exponent at first. Only speed depends on it.
  int* exponent = nullptr;
  double* scratch = nullptr;  ///< [strip_scratch_doubles(outputs, window)], 64-byte aligned.
};

/// Scratch of a strip, in doubles.
index_t strip_scratch_doubles(index_t outputs, index_t window);

/// The sum of the window of output `output`, rounded once, by exact_sum.
double sum_exactly(const strip_request& request, index_t output);

/// A strip's sums: compensated (rounded once, or two doubles per sum, for doubles and for long
/// windows of wide integers) or in plain double (exact for integers, ample for float).
struct strip_kernels {
  void (*compensated)(const strip_request& request);
  void (*plain)(const strip_request& request);
  /// values[i] = sum over k of weights[k] * elements[i + k], in the order of k.
  void (*correlate)(const double* elements, const double* weights, index_t weight_count,
                    index_t count, double* values);
  /// Copies past the caches; a store fence must follow before other threads read.
  void (*copy_streaming)(void* to, const void* from, index_t bytes);
};

namespace baseline {
extern const strip_kernels strips;
}
#if defined(__x86_64__)
namespace avx2 {
extern const strip_kernels strips;
}
namespace avx512 {
extern const strip_kernels strips;
}
#endif

/// Those for the instruction set that this machine runs best.
const strip_kernels& usable_strip_kernels();

}  // namespace gpu::cpu
