// Counts by classes for what has 32 sums of a row in two registers. Included inside the unnamed
// namespace of a file compiled for AVX-512.
//
// Sums fit 16 bits, so one comparison serves 32 pairs: two sums are packed (which orders lanes by
// quarters of both, as limits and counts of columns are, too), compared with the least sum that
// the class of the row and the column keep, and the mask counted for the row and the columns.
//
// Bins: the sums of some rows and the masks are stored, and gone through once the registers of the
// sums are free. The bins of 16 lanes come from float arithmetic; near the edge of a bin the
// definition decides. The bins of the kept lanes are moved together, and one loop without branches
// counts them.

// What counts bins: nothing where there are none.
template <bool Binned>
class bin_counter {
 public:
  explicit bin_counter(const class_tile&) {}
};

template <>
class bin_counter<true> {
 public:
  explicit bin_counter(const class_tile& tile)
      : tile_(tile),
        half_bins_(_mm512_set1_ps(static_cast<float>(tile.half_bins))),
        // Of sum, both inverses, their products and the last sum each loses at most 2^-24 of half
        // the bins: 6 of them, and some more for their products.
        band_(_mm512_set1_ps(static_cast<float>(tile.half_bins * 8 * 0x1p-24))),
        is_small_(tile.bins <= small_bins) {}
  bin_counter(const bin_counter&) = delete;
  bin_counter& operator=(const bin_counter&) = delete;
  ~bin_counter() {
    count();
    if (!is_small_) return;
    for (index_t b = 0; b < tile_.bins; ++b) {
      std::uint64_t sum = 0;
      for (const auto& part : counts_) sum += part[b];
      tile_.histogram[b] += sum;
    }
  }

  // Columns [col, col + 32) from now on, in the order of packed lanes.
  void start(index_t col) {
    col_ = col;
    const __m512 first = _mm512_loadu_ps(tile_.col_inverse + col);
    const __m512 second = _mm512_loadu_ps(tile_.col_inverse + col + group_lanes);
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    inverse_[0] = _mm512_permutex2var_ps(first, low, second);
    inverse_[1] = _mm512_permutex2var_ps(first, high, second);
  }

  inline __attribute__((always_inline)) void hold(index_t i, __m512i packed, __mmask32 kept) {
    _mm512_store_si512(sums_[i], packed);
    kept_[i] = kept;
  }

  // Bins what rows [row, row + rows) hold.
  __attribute__((noinline)) void add(index_t row, index_t rows) {
    for (index_t i = 0; i < rows; ++i) {
      if (kept_[i] == 0) continue;
      const __m512i packed = _mm512_load_si512(sums_[i]);
      add_half(row, i, 0, kept_[i] & 0xffffu, _mm512_castsi512_si256(packed));
      add_half(row, i, 1, kept_[i] >> 16, _mm512_extracti64x4_epi64(packed, 1));
      if (waiting_bins_ > most_waiting - 2 * group_lanes) count();
    }
  }

 private:
  static constexpr index_t small_bins = 256;
  static constexpr index_t most_waiting = 256;
  static constexpr index_t parts = 4;

  inline __attribute__((always_inline)) void add_half(index_t row, index_t i, index_t half,
                                                      std::uint32_t kept, __m256i sums) {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(tile_.row_inverse[row + i]), half_bins_);
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(sums));
    const __m512 place =
        _mm512_add_ps(_mm512_mul_ps(_mm512_mul_ps(sum, inverse_[half]), scale), half_bins_);
    const __m512 off = _mm512_abs_ps(_mm512_sub_ps(place, _mm512_roundscale_ps(place, nearest)));
    auto mask = static_cast<__mmask16>(kept);
    const __mmask16 unsure = _mm512_mask_cmp_ps_mask(mask, off, band_, _CMP_LE_OQ);
    if (unsure != 0) {
      bin_exactly(row, i, half, unsure);
      mask = static_cast<__mmask16>(mask & ~unsure);
    }
    _mm512_storeu_si512(waiting_ + waiting_bins_,
                        _mm512_maskz_compress_epi32(mask, _mm512_cvttps_epi32(place)));
    waiting_bins_ += __builtin_popcount(mask);
  }

  __attribute__((noinline)) void bin_exactly(index_t row, index_t i, index_t half,
                                             std::uint32_t unsure) {
    for (; unsure != 0; unsure &= unsure - 1) {
      const index_t lane = half * group_lanes + __builtin_ctz(unsure);
      // Quarters of the first group and of the second take turns.
      const index_t col = col_ + lane / 8 * 4 + lane % 4 + (lane & 4) * 4;
      ++tile_.histogram[tile_.bin(row + i, col, sums_[i][lane])];
    }
  }

  void count() {
    if (is_small_) {
      for (index_t k = 0; k < waiting_bins_; ++k) ++counts_[k % parts][waiting_[k]];
    } else {
      for (index_t k = 0; k < waiting_bins_; ++k) ++tile_.histogram[waiting_[k]];
    }
    waiting_bins_ = 0;
  }

  const class_tile& tile_;
  __m512 half_bins_;
  __m512 band_;
  __m512 inverse_[2];
  alignas(64) std::int16_t sums_[row_padding][2 * group_lanes];
  __mmask32 kept_[row_padding];
  index_t col_ = 0;
  bool is_small_;
  index_t waiting_bins_ = 0;
  std::int32_t waiting_[most_waiting];
  // Side by side, as the same bin often comes twice in a row.
  std::uint32_t counts_[parts][small_bins] = {};
};

template <cut_side Side, bool Binned>
class class_tile_counter {
 public:
  class_tile_counter(const class_tile& tile, std::uint32_t* row_degree, std::uint32_t* col_degree)
      : tile_(tile), row_degree_(row_degree), col_degree_(col_degree), bins_(tile) {}

  /// To be called before add() of a block of 32 columns: its limits.
  void start(index_t group) {
    if (group == group_) return;
    group_ = group;
    const index_t col = group * group_lanes;
    if constexpr (Binned) bins_.start(col);
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

  /// Counts `count` rows from `row` on; sums(i, g) gives the sums of row i with group g of two.
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
      lanes[lane] = tile_.least(row_class, col + lane);
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
      const __m512i packed = _mm512_packs_epi32(sums(i, 0), sums(i, 1));
      __m512i sum = packed;
      if constexpr (Side == cut_side::magnitude) sum = _mm512_abs_epi16(sum);
      if constexpr (Side == cut_side::negative) sum = _mm512_sub_epi16(_mm512_setzero_si512(), sum);
      __mmask32 kept = _mm512_cmpge_epi16_mask(sum, limit);
      if constexpr (!Inside) kept &= above_diagonal(row + i - col - tile_.diagonal);
      columns = _mm512_mask_add_epi16(columns, kept, columns, one);
      const auto in_row = static_cast<std::uint32_t>(__builtin_popcount(kept));
      row_degree_[row + i] += in_row;
      kept_ += in_row;
      if constexpr (Binned) bins_.hold(i, packed, kept);
    }
    if constexpr (Binned) bins_.add(row, count);
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

  const class_tile& tile_;
  std::uint32_t* row_degree_;
  std::uint32_t* col_degree_;
  index_t group_ = -1;
  std::uint64_t kept_ = 0;
  bin_counter<Binned> bins_;
};

/// run(counter) with the counter that `tile` asks for; returns what it kept.
template <class Run>
std::uint64_t with_class_tile_counter(const class_tile& tile, std::uint32_t* row_degree,
                                      std::uint32_t* col_degree, const Run& run) {
  const auto counted = [&]<cut_side Side, bool Binned>() {
    class_tile_counter<Side, Binned> counter(tile, row_degree, col_degree);
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
