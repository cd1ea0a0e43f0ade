#include "base/memory/stream_copy.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gpu::inline v0::detail {

void stream_copy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  constexpr std::size_t vector = sizeof(__m128i);
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const std::size_t head =
      std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(out) % line) % line);
  std::memcpy(out, in, head);
  std::size_t at = head;
  for (; at + line <= bytes; at += line) {
    for (std::size_t part = 0; part < line; part += vector) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at + part)));
    }
  }
  std::memcpy(out + at, in + at, bytes - at);
  // Before another thread announces what was written.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace gpu::inline v0::detail
