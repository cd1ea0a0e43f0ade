// Counts by classes for what has 32 sums of a row in two registers. Included inside the unnamed
// namespace of a file compiled for AVX-512.
//
// Sums fit 16 bits, so one comparison serves 32 pairs: two sums are packed (which orders lanes by
// quarters of both, as limits and counts of columns are, too), compared with the least sum that
// the class of the row and the column keep, and the mask counted for the row and the columns.

template <cut_side Side, bool Binned>
class class_counter {
 public:
  class_counter(const class_tile& tile, std::uint32_t* row_degree, std::uint32_t* col_degree)
      : tile_(tile), row_degree_(row_degree), col_degree_(col_degree) {}

  /// To be called before add() of a block of 32 columns: its limits.
  void start(index_t group) {
    if (group == group_) return;
    group_ = group;
    const index_t col = group * group_lanes;
    const __m512 scale[2] = {_mm512_loadu_ps(tile_.col_scale + col),
                             _mm512_loadu_ps(tile_.col_scale + col + group_lanes)};
    for (index_t c = 0; c < tile_.classes; ++c) {
      const __m512 cut = _mm512_set1_ps(tile_.class_cut[c]);
      const __m512i least[2] = {limits(c, col, _mm512_mul_ps(cut, scale[0])),
                                limits(c, col + group_lanes, _mm512_mul_ps(cut, scale[1]))};
      _mm512_store_si512(tile_.limits + c * 2 * group_lanes,
                         _mm512_packs_epi32(least[0], least[1]));
    }
  }

  /// Counts `count` rows from `row` on, of which sums(i, g) gives the sums with group g of two.
  template <class Sums>
  inline __attribute__((always_inline)) void add(index_t row, index_t count, const Sums& sums) {
    const index_t col = group_ * group_lanes;
    const bool inside = col + tile_.diagonal > row + count - 1;
    inside ? add_rows<true>(row, count, sums) : add_rows<false>(row, count, sums);
  }

  [[nodiscard]] std::uint64_t kept() const { return kept_; }

 private:
  __m512i limits(index_t row_class, index_t col, __m512 x) const {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    constexpr int up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    const __m512 off = _mm512_abs_ps(_mm512_sub_ps(x, _mm512_roundscale_ps(x, nearest)));
    const index_t left = tile_.cols - col;
    const auto used =
        static_cast<__mmask16>(left >= group_lanes ? 0xffffu : (left <= 0 ? 0u : (1u << left) - 1));
    const __m512i never = _mm512_set1_epi32(0x7fff);
    __m512i out = _mm512_mask_cvt_roundps_epi32(never, used, x, up);
    const std::uint32_t unsure =
        _mm512_mask_cmp_ps_mask(used, off, _mm512_set1_ps(tile_.band), _CMP_LT_OQ);
    return unsure == 0 ? out : settled(out, unsure, row_class, col);
  }

  __attribute__((noinline)) __m512i settled(__m512i limit, std::uint32_t unsure, index_t row_class,
                                            index_t col) const {
    alignas(64) std::int32_t lanes[group_lanes];
    _mm512_store_si512(lanes, limit);
    for (; unsure != 0; unsure &= unsure - 1) {
      const int lane = __builtin_ctz(unsure);
      lanes[lane] = tile_.least(tile_.context, row_class, col + lane);
    }
    return _mm512_load_si512(lanes);
  }

  template <bool Inside, class Sums>
  inline __attribute__((always_inline)) void add_rows(index_t row, index_t count,
                                                      const Sums& sums) {
    const __m512i one = _mm512_set1_epi16(1);
    const index_t col = group_ * group_lanes;
    __m512i columns = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (index_t i = 0; i < count; ++i) {
      const __m512i limit =
          _mm512_load_si512(tile_.limits + index_t{tile_.class_of_row[row + i]} * 2 * group_lanes);
      __m512i sum = _mm512_packs_epi32(sums(i, 0), sums(i, 1));
      if constexpr (Side == cut_side::magnitude) sum = _mm512_abs_epi16(sum);
      if constexpr (Side == cut_side::negative) sum = _mm512_sub_epi16(_mm512_setzero_si512(), sum);
      __mmask32 kept = _mm512_cmpge_epi16_mask(sum, limit);
      if constexpr (!Inside) kept &= above_diagonal(row + i - col - tile_.diagonal);
      columns = _mm512_mask_add_epi16(columns, kept, columns, one);
      const auto in_row = static_cast<std::uint32_t>(__builtin_popcount(kept));
      row_degree_[row + i] += in_row;
      kept_ += in_row;
      if constexpr (Binned) {
        if (kept != 0) add_bins(row + i, kept, sums(i, 0), sums(i, 1));
      }
    }
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i sorted = _mm512_permutexvar_epi64(order, columns);
    avx512_lanes::add_counts(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(sorted)),
                             col_degree_ + col);
    avx512_lanes::add_counts(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(sorted, 1)),
                             col_degree_ + col + group_lanes);
  }

  // Lanes, as packed, of columns beyond `last` of the 32.
  static __mmask32 above_diagonal(index_t last) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i lanes =
        _mm512_packs_epi32(lane, _mm512_add_epi32(lane, _mm512_set1_epi32(group_lanes)));
    const index_t bound = last < -1 ? -1 : (last > 2 * group_lanes ? 2 * group_lanes : last);
    return _mm512_cmpgt_epi16_mask(lanes, _mm512_set1_epi16(static_cast<short>(bound)));
  }

  __attribute__((noinline)) void add_bins(index_t row, std::uint32_t kept, __m512i first,
                                          __m512i second) {
    alignas(64) std::int16_t sums[2 * group_lanes];
    _mm512_store_si512(sums, _mm512_packs_epi32(first, second));
    const double scale = tile_.row_inverse[row];
    for (; kept != 0; kept &= kept - 1) {
      const int lane = __builtin_ctz(kept);
      // Quarters of the first group and of the second take turns.
      const index_t col = group_ * group_lanes + lane / 8 * 4 + lane % 4 + (lane & 4) * 4;
      const double place = (sums[lane] * scale * tile_.col_inverse[col] + 1) * tile_.half_bins;
      auto bin = static_cast<index_t>(place);
      const double part = place - static_cast<double>(bin);
      if (part < 1e-9 || part > 1 - 1e-9) bin = tile_.bin(tile_.context, row, col, sums[lane]);
      ++tile_.histogram[bin];
    }
  }

  const class_tile& tile_;
  std::uint32_t* row_degree_;
  std::uint32_t* col_degree_;
  index_t group_ = -1;
  std::uint64_t kept_ = 0;
};

/// run(counter) with the counter that `tile` asks for; returns what it kept.
template <class Run>
std::uint64_t with_class_counter(const class_tile& tile, std::uint32_t* row_degree,
                                 std::uint32_t* col_degree, const Run& run) {
  const auto counted = [&]<cut_side Side, bool Binned>() {
    class_counter<Side, Binned> counter(tile, row_degree, col_degree);
    run(counter);
    return counter.kept();
  };
  const auto sided = [&]<cut_side Side>() {
    return tile.bins == 0 ? counted.template operator()<Side, false>()
                          : counted.template operator()<Side, true>();
  };
  switch (tile.side) {
    case cut_side::positive:
      return sided.template operator()<cut_side::positive>();
    case cut_side::negative:
      return sided.template operator()<cut_side::negative>();
    case cut_side::magnitude:
      break;
  }
  return sided.template operator()<cut_side::magnitude>();
}
