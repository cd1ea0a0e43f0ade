// The loops of the moving mean, compiled once per instruction set: the including file defines
// GPU_SIMILARITY_LEVEL (a namespace) and GPU_SIMILARITY_VECTOR_BYTES. No include guard, and no
// function of the standard library: an inline one compiled here could be the copy that the linker
// keeps for machines without these instructions.

#if GPU_SIMILARITY_VECTOR_BYTES > 16 || defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

#include "cpu/mean_filter/strip.hpp"

#include "cpu/mean_filter/sums.hpp"

#include "cpu/mean_filter/blocks.hpp"

#include "cpu/mean_filter/exact.hpp"

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

// Windows below 8 elements: each from its elements.
template <int C, int Window>
void run_short_window(const strip_request& request) {
  const vec divisor = vec{} + request.divisor;
  const vec inverse = vec{} + 1.0 / request.divisor;
  double staged[level_doubles];
  alignas(64) double values[strip_pass_elements];
  for (index_t first = 0; first < request.outputs; first += strip_pass_elements) {
    const index_t left = request.outputs - first;
    const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
    const index_t rounded_up = (count + strip_lanes - 1) / strip_lanes * strip_lanes;
    const double* from = request.stage(request.first + first, rounded_up + strip_lanes, staged);
    doubtful_windows<C> doubts(Window);
    for (index_t i = 0; i < rounded_up; i += lanes) {
      sum<C> total = {};
      for (int k = 0; k < Window; ++k) total = add_value<C>(total, load(from + i + k));
      store(values + i, divided(doubts.rounded(total, i), divisor, inverse));
    }
    doubts.resolve(
        count, [&](index_t i) { values[i] = sum_exactly(request, first + i) / request.divisor; });
    request.emit(request.first + first, count, values);
  }
}

template <int C>
void run_strip(const strip_request& request) {
  if constexpr (C == 2) {
    if (request.window == 1) return run_strip<1>(request);
    if (request.window <= longest_exact_window) {
      return exact_strip(request).run([](const strip_request& part) { run_strip<3>(part); });
    }
  }
  const bool is_short = [&]<int... Less>(std::integer_sequence<int, Less...>) {
    return ((request.window == Less + 1 ? (run_short_window<C, Less + 1>(request), true) : false) ||
            ...);
  }(std::make_integer_sequence<int, 7>());
  if (is_short) return;
  strip<C> work(request);
  work.run();
}

// Past the caches: whole vectors from the first aligned one on.
void copy_streaming(void* to, const void* from, index_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  index_t done = 0;
#if defined(__x86_64__)
  constexpr index_t step = GPU_SIMILARITY_VECTOR_BYTES;
  const auto address = reinterpret_cast<unsigned long long>(target);
  const index_t head = static_cast<index_t>((step - address % step) % step);
  if (head < bytes) {
    __builtin_memcpy(target, source, static_cast<unsigned long>(head));
    for (done = head; done + step <= bytes; done += step) {
#if GPU_SIMILARITY_VECTOR_BYTES == 64
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + done),
                          _mm512_loadu_si512(source + done));
#elif GPU_SIMILARITY_VECTOR_BYTES == 32
      _mm256_stream_si256(reinterpret_cast<__m256i*>(target + done),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + done)));
#else
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + done),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done)));
#endif
    }
  }
#endif
  __builtin_memcpy(target + done, source + done, static_cast<unsigned long>(bytes - done));
}

void correlate(const double* elements, const double* weights, index_t weight_count, index_t count,
               double* values) {
  constexpr index_t unroll = 4 * lanes;
  index_t i = 0;
  for (; i + unroll <= count; i += unroll) {
    vec total[4] = {};
    for (index_t k = 0; k < weight_count; ++k) {
      for (int part = 0; part < 4; ++part) {
        total[part] += weights[k] * load(elements + i + k + part * lanes);
      }
    }
    for (int part = 0; part < 4; ++part) store(values + i + part * lanes, total[part]);
  }
  for (; i < count; ++i) {
    double total = 0;
    for (index_t k = 0; k < weight_count; ++k) total += weights[k] * elements[i + k];
    values[i] = total;
  }
}

}  // namespace

extern const strip_kernels strips;
const strip_kernels strips = {run_strip<2>, run_strip<1>, correlate, copy_streaming};

}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
