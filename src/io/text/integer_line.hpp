#pragma once
// The fast path of the text reader: a line of small integers.

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <gpu/index.hpp>

namespace gpu::io {

/// The fast path needs this many readable bytes behind the start of what it looks at.
inline constexpr std::ptrdiff_t integer_line_behind = 64 + 8;
/// It may write this many values more than there are columns before it gives up.
inline constexpr index_t integer_line_slack = 64;

namespace detail {

constexpr std::uint64_t each_byte(std::uint8_t value) {
  return 0x0101010101010101U * value;
}

template <class Word>
Word load(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

/// Bit i is set where byte i of the 64 at p is `wanted`.
inline std::uint64_t find_in_64(const char* p, char wanted) {
  std::uint64_t found = 0;
#if defined(__SSE2__)
  const __m128i pattern = _mm_set1_epi8(wanted);
  for (unsigned k = 0; k < 4; ++k) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + k);
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern)));
    found |= std::uint64_t{mask} << (16 * k);
  }
#else
  for (unsigned k = 0; k < 8; ++k) {
    const std::uint64_t word =
        load<std::uint64_t>(p + 8 * k) ^ each_byte(static_cast<std::uint8_t>(wanted));
    const std::uint64_t differs = ((word & each_byte(0x7F)) + each_byte(0x7F)) | word;
    const std::uint64_t equals = ~differs & each_byte(0x80);
    // The product collects the eight flags in the top byte.
    found |= (((equals >> 7) * 0x0102040810204080U) >> 56) << (8 * k);
  }
#endif
  return found;
}

/// The number of four decimal digits, the first in the lowest byte, each already less '0'.
inline std::uint32_t four_digits(std::uint32_t digits) {
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x00FF00FFU) * (1 + (std::uint32_t{100} << 16))) >> 16;
}

/// The same of eight digits.
inline std::uint32_t eight_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  constexpr std::uint64_t pairs = 0x000000FF000000FFU;
  const std::uint64_t sums = (digits & pairs) * (100 + (std::uint64_t{1000000} << 32)) +
                             ((digits >> 16) & pairs) * (1 + (std::uint64_t{10000} << 32));
  return static_cast<std::uint32_t>(sums >> 32);
}

/// Sets a high bit in `wrong` where a byte of `digits` is above 9.
inline void note_wrong(std::uint64_t digits, std::uint64_t& wrong) {
  wrong |= digits | (digits + each_byte(0x80 - 10));
}

}  // namespace detail

/// Reads `cols` integers of at most 8 characters from the line at `p` to `out`. Returns the
/// position behind the newline, or null where the line is anything else (another number of fields,
/// another kind of field, near the end of the text): then it is to be read again, with care, and
/// what `out` holds means nothing.
///
/// The ends of all fields in 64 bytes are found at once, so the reading of one number does not
/// wait for the end of the one before; the digits of a number are converted together, whatever
/// their count, and checked at the end of the line.
template <bool merges>
inline const char* read_integer_line(const char* p, const char* text_end, char separator,
                                     index_t cols, std::int32_t* out) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  std::int32_t* const out_end = out + cols;
  const char* field = p;
  std::uint64_t wrong = 0;
  for (; text_end - p >= integer_line_behind && out <= out_end; p += 64) {
    const std::uint64_t newlines = detail::find_in_64(p, '\n');
    std::uint64_t ends = detail::find_in_64(p, separator) | newlines;
    ends &= newlines ^ (newlines - 1);  // up to the first newline, or all
    for (; ends != 0; ends &= ends - 1) {
      const char* const end = p + std::countr_zero(ends);
      const auto length = static_cast<std::uint64_t>(end - field);
      if (length - 1 < 4 && *field != '-') {
        const std::uint64_t unused = 32 - 8 * length;
        const std::uint32_t digits = (detail::load<std::uint32_t>(field) ^
                                      static_cast<std::uint32_t>(detail::each_byte('0')))
                                     << unused;
        detail::note_wrong(digits, wrong);
        *out++ = static_cast<std::int32_t>(detail::four_digits(digits));
      } else if (length != 0) {
        const bool negative = *field == '-';
        const std::uint64_t count = length - negative;
        if (count - 1 >= 8) return nullptr;
        const std::uint64_t unused = 64 - 8 * count;
        const std::uint64_t digits =
            (detail::load<std::uint64_t>(field + negative) ^ detail::each_byte('0')) << unused;
        detail::note_wrong(digits, wrong);
        const auto value = static_cast<std::int32_t>(detail::eight_digits(digits));
        *out++ = negative ? -value : value;
      } else if (!merges) {
        return nullptr;
      }
      field = end + 1;
    }
    if (newlines != 0) {
      return out == out_end && (wrong & detail::each_byte(0x80)) == 0 ? field : nullptr;
    }
  }
  return nullptr;
}

}  // namespace gpu::io
