// Compiled with AVX-512. Calls no inline function of the project: the linker keeps one copy of
// each, which every processor must be able to run.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "pairs/delivery/unpack_edges.hpp"

namespace gpu::delivery::avx512 {
namespace {

using stats::p_piece;
using stats::p_table;

constexpr std::size_t lanes = 8;
constexpr std::size_t sets = 4;  // side by side, because each operation waits for the one before
static_assert(lanes * sets == edges_a_group);

// A piece of the table as numbers: where they stand in it.
constexpr int piece_numbers = 16;
constexpr int centre_at = 0;
constexpr int scale_at = 1;
constexpr int coefficients_at = 2;
constexpr int last_at = coefficients_at + p_piece::degree;
static_assert(sizeof(p_piece) == piece_numbers * sizeof(double) && last_at == piece_numbers - 1);
static_assert(offsetof(p_piece, centre) == centre_at * sizeof(double));
static_assert(offsetof(p_piece, scale) == scale_at * sizeof(double));
static_assert(offsetof(p_piece, coefficients) == coefficients_at * sizeof(double));

// Some pieces of the table side by side, out of which permutations of registers pick a number for
// each of eight statistics. That takes half as long as gathering it from memory. The kept
// statistics of a job seldom spread over more pieces than these.
constexpr int window_pieces = 32;
struct piece_window {
  std::int64_t first;
  alignas(64) double numbers[piece_numbers][window_pieces];
};

// |r|, rounded where the table says so.
inline __m512d magnitude_of(__m512d r, const p_table& table) {
  const __m512d rounder = _mm512_set1_pd(table.grid_rounder);
  const __m512d magnitude = _mm512_abs_pd(r);
  const __m512d rounded = _mm512_sub_pd(_mm512_add_pd(magnitude, rounder), rounder);
  const __mmask8 rounds = _mm512_cmp_pd_mask(magnitude, _mm512_set1_pd(table.grid_end), _CMP_LT_OQ);
  return _mm512_mask_mov_pd(magnitude, rounds, rounded);
}

// The numbers of the pieces of eight magnitudes.
inline __m512i pieces_of(__m512d m, const p_table& table) {
  const __m512d x = _mm512_sub_pd(_mm512_set1_pd(1.0), _mm512_mul_pd(m, m));
  const __m512i below_one =
      _mm512_sub_epi64(_mm512_set1_epi64(static_cast<long long>(stats::p_arithmetic::bits_of_one)),
                       _mm512_castpd_si512(x));
  const __m512i bins = _mm512_min_epu64(_mm512_srl_epi64(below_one, _mm_cvtsi32_si128(table.shift)),
                                        _mm512_set1_epi64(static_cast<long long>(table.last_bin)));
  // Of the four bytes that are fetched of each, two are the next bin's.
  const __m256i found = _mm512_i64gather_epi32(bins, table.piece_of_bin, 2);
  return _mm512_and_si512(_mm512_cvtepu32_epi64(found), _mm512_set1_epi64(0xffff));
}

// A window of the pieces from that of the least of some of the statistics on.
void fill_window(const double* statistics, std::size_t count, const p_table& table,
                 piece_window& window) {
  constexpr std::size_t looked_at = 64;
  const std::size_t step = count / looked_at + 1;
  __m512d least = _mm512_set1_pd(1.0);
  for (std::size_t i = 0; i < count; i += step) {
    least = _mm512_min_pd(_mm512_abs_pd(_mm512_set1_pd(statistics[i])), least);
  }
  const __m512i piece = pieces_of(magnitude_of(least, table), table);
  const std::int64_t lowest = _mm_cvtsi128_si64(_mm512_castsi512_si128(piece));
  constexpr std::int64_t last_first = p_table::most_pieces - window_pieces;
  window.first = lowest < last_first ? lowest : last_first;
  for (int k = 0; k < window_pieces; ++k) {
    const double* const numbers = &table.pieces[window.first + k].centre;
    for (int i = 0; i < piece_numbers; ++i) window.numbers[i][k] = numbers[i];
  }
}

// One number of the pieces `at` of a window; `upper` has the lanes of its upper half.
inline __m512d look_up(const double (&of_pieces)[window_pieces], __m512i at, __mmask8 upper) {
  const __m512d low =
      _mm512_permutex2var_pd(_mm512_load_pd(of_pieces), at, _mm512_load_pd(of_pieces + lanes));
  const __m512d high = _mm512_permutex2var_pd(_mm512_load_pd(of_pieces + 2 * lanes), at,
                                              _mm512_load_pd(of_pieces + 3 * lanes));
  return _mm512_mask_mov_pd(low, upper, high);
}

// Two-sided p of magnitudes whose pieces are in the window, in the order of operations of
// p_table::two_sided_p.
inline void p_in_window(const __m512d (&m)[sets], const __m512i (&at)[sets],
                        const piece_window& window, __m512d (&p)[sets]) {
  __mmask8 upper[sets];
  __m512d d[sets];
#pragma GCC unroll 4
  for (std::size_t set = 0; set < sets; ++set) {
    upper[set] = _mm512_test_epi64_mask(at[set], _mm512_set1_epi64(window_pieces / 2));
    d[set] = _mm512_sub_pd(m[set], look_up(window.numbers[centre_at], at[set], upper[set]));
    p[set] = look_up(window.numbers[last_at], at[set], upper[set]);
  }
#pragma GCC unroll 16
  for (int i = last_at - 1; i >= coefficients_at; --i) {
#pragma GCC unroll 4
    for (std::size_t set = 0; set < sets; ++set) {
      p[set] = _mm512_add_pd(_mm512_mul_pd(p[set], d[set]),
                             look_up(window.numbers[i], at[set], upper[set]));
    }
  }
#pragma GCC unroll 4
  for (std::size_t set = 0; set < sets; ++set) {
    p[set] = _mm512_mul_pd(p[set], look_up(window.numbers[scale_at], at[set], upper[set]));
  }
}

// The same of any pieces, counted from `first`.
inline __m512d p_anywhere(__m512d m, __m512i pieces, std::int64_t first, const p_table& table) {
  const double* const numbers = &table.pieces[first].centre;
  const __m512i at = _mm512_slli_epi64(pieces, 4);
  static_assert(piece_numbers == 1 << 4);
  const __m512d d = _mm512_sub_pd(m, _mm512_i64gather_pd(at, numbers + centre_at, 8));
  __m512d p = _mm512_i64gather_pd(at, numbers + last_at, 8);
  for (int i = last_at - 1; i >= coefficients_at; --i) {
    p = _mm512_add_pd(_mm512_mul_pd(p, d), _mm512_i64gather_pd(at, numbers + i, 8));
  }
  return _mm512_mul_pd(p, _mm512_i64gather_pd(at, numbers + scale_at, 8));
}

// p of the tail of `side`, as p_function does it.
inline __m512d p_of_tail(__m512d two_sided, __m512d r, tail side) {
  if (side == tail::two_sided) return two_sided;
  const __m512d half = _mm512_mul_pd(two_sided, _mm512_set1_pd(0.5));
  const __m512d zero = _mm512_setzero_pd();
  const __mmask8 in_the_tail = side == tail::greater ? _mm512_cmp_pd_mask(r, zero, _CMP_GT_OQ)
                                                     : _mm512_cmp_pd_mask(r, zero, _CMP_LT_OQ);
  return _mm512_mask_mov_pd(_mm512_sub_pd(_mm512_set1_pd(1.0), half), in_the_tail, half);
}

// Row and column of eight places, in one number each, as an edge holds them.
inline __m512i unpack_places(const detail::packed_edges& from, std::size_t at) {
  const __m512i places =
      _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from.places + at)));
  const __m512i rows = _mm512_add_epi64(_mm512_srl_epi64(places, _mm_cvtsi32_si128(from.col_bits)),
                                        _mm512_set1_epi64(from.first_row));
  const __m512i cols = _mm512_and_si512(places, _mm512_set1_epi64((1LL << from.col_bits) - 1));
  return _mm512_or_si512(rows, _mm512_slli_epi64(cols, 32));
}

// Stores eight edges as three lines: place, r, p, place, r, p, ... `to` is at the start of a line.
inline void store_edges(__m512i places, __m512d r, __m512d p, edge* to) {
  const __m512d in_pairs = _mm512_castsi512_pd(places);
  const auto line = [&](__m512i of_place_or_r, __mmask8 is_p, __m512i of_p) {
    const __m512d two = _mm512_permutex2var_pd(in_pairs, of_place_or_r, r);  // r from 8 on
    return _mm512_mask_permutexvar_pd(two, is_p, of_p, p);
  };
  auto* const out = reinterpret_cast<double*>(to);
  _mm512_stream_pd(out, line(_mm512_setr_epi64(0, 8, 0, 1, 9, 0, 2, 10), 0b00100100,
                             _mm512_setr_epi64(0, 0, 0, 0, 0, 1, 0, 0)));
  _mm512_stream_pd(out + lanes, line(_mm512_setr_epi64(0, 3, 11, 0, 4, 12, 0, 5), 0b01001001,
                                     _mm512_setr_epi64(2, 0, 0, 3, 0, 0, 4, 0)));
  _mm512_stream_pd(out + 2 * lanes, line(_mm512_setr_epi64(13, 0, 6, 14, 0, 7, 15, 0), 0b10010010,
                                         _mm512_setr_epi64(0, 5, 0, 0, 6, 0, 0, 7)));
}

}  // namespace

void unpack_groups(const detail::packed_edges& packed, std::size_t first, std::size_t groups,
                   const stats::p_function& p_of, edge* to) {
  // Copies, which no store to an edge may change.
  const detail::packed_edges from = packed;
  const tail side = p_of.side;
  const p_table& table = *p_of.table;
  if (groups == 0) return;
  const __m512d least_p = _mm512_set1_pd(table.least_p);
  piece_window window;
  fill_window(from.statistics + first, groups * edges_a_group, table, window);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t begin = group * edges_a_group;
    __m512d r[sets];
    __m512d m[sets];
    __m512d p[sets];
    __m512i at[sets];
    __mmask8 outside[sets];
#pragma GCC unroll 4
    for (std::size_t set = 0; set < sets; ++set) {
      r[set] = _mm512_loadu_pd(from.statistics + first + begin + set * lanes);
      m[set] = magnitude_of(r[set], table);
      at[set] = _mm512_sub_epi64(pieces_of(m[set], table), _mm512_set1_epi64(window.first));
      outside[set] = _mm512_cmpge_epu64_mask(at[set], _mm512_set1_epi64(window_pieces));
    }
    p_in_window(m, at, window, p);
    if ((outside[0] | outside[1] | outside[2] | outside[3]) != 0) {
      for (std::size_t set = 0; set < sets; ++set) {
        if (outside[set] != 0) p[set] = p_anywhere(m[set], at[set], window.first, table);
      }
    }
#pragma GCC unroll 4
    for (std::size_t set = 0; set < sets; ++set) {
      const __m512d floored = _mm512_max_pd(least_p, p[set]);  // of a NaN p
      store_edges(unpack_places(from, first + begin + set * lanes), r[set],
                  p_of_tail(floored, r[set], side), to + begin + set * lanes);
    }
  }
  // Before another thread announces what was written.
  _mm_sfence();
}

}  // namespace gpu::delivery::avx512
