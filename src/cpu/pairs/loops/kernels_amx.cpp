// All-pairs kernels for AMX: 16 x 16 sums of 8-bit products an instruction. What has no 8-bit form
// runs on AVX-512 with VNNI.
#include <immintrin.h>

#include <type_traits>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/platform/amx_tiles.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_dots_body.hpp"
#include "cpu/pairs/loops/kernel_doubles.hpp"
#include "cpu/pairs/loops/kernels_amx_strips.hpp"
#include "cpu/pairs/loops/kernels_avx512_ops.hpp"
#include "cpu/pairs/loops/kernels_class_count.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"
#include "cpu/pairs/loops/kernels_vnni_ops.hpp"

// The pairs of a strip that may pass.
__attribute__((noinline)) void visit_candidates(const strip& found, const screen_tile& tile,
                                                const exact_test& test) {
  const __m512i bias = _mm512_set1_epi32(tile.bias);
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(tile.limit));
  for (index_t i = 0; i < strip_rows && found.row + i < tile.rows; ++i) {
    for (index_t g = 0; g < 2; ++g) {
      const __m512i sums = _mm512_load_si512(found.sums[g][i]);
      std::uint32_t lanes = _mm512_cmpge_epu32_mask(_mm512_add_epi32(sums, bias), limit);
      for (; lanes != 0; lanes &= lanes - 1) {
        const index_t j = found.col() + g * group_lanes + __builtin_ctz(lanes);
        if (j < tile.cols && j + tile.diagonal > found.row + i) {
          (void)test(found.row + i, j, 0);
        }
      }
    }
  }
}

void screen(const screen_tile& tile, const exact_test& test) {
  const __m512i bias = _mm512_set1_epi32(tile.bias);
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(tile.limit));
  for_each_strip<true>(tile, [&](const strip& ready) {
    __m512i most[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                       _mm512_setzero_si512()};
    for (int i = 0; i < strip_rows; ++i) {
      for (int g = 0; g < 2; ++g) {
        __m512i& m = most[(2 * i + g) % 4];
        m = _mm512_max_epu32(m, _mm512_add_epi32(_mm512_load_si512(ready.sums[g][i]), bias));
      }
    }
    const __m512i all =
        _mm512_max_epu32(_mm512_max_epu32(most[0], most[1]), _mm512_max_epu32(most[2], most[3]));
    if (_mm512_cmpge_epu32_mask(all, limit) != 0) visit_candidates(ready, tile, test);
  });
}

// Margins of a strip, as kernel_body has them.
class strip_margins {
 public:
  strip_margins(const kernel_tile& tile, const strip& from)
      : tile_(tile),
        from_(from),
        scale_{_mm512_loadu_ps(tile.col_scale + from.col()),
               _mm512_loadu_ps(tile.col_scale + from.col() + group_lanes)} {}

  [[nodiscard]] __m512 at(int i, int g) const {
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_load_si512(from_.sums[g][i]));
    const __m512 x = avx512_lanes::signed_real(sum, tile_.sign_flip, tile_.sign_keep);
    return _mm512_fnmadd_ps(_mm512_set1_ps(tile_.row_cut[from_.row + i]), scale_[g], x);
  }

  // visit(row, col, raw, margin) for the pairs above the diagonal; columns ascend within rows.
  template <class Visit>
  void each_pair(const Visit& visit) const {
    for (int i = 0; i < strip_rows && from_.row + i < tile_.rows; ++i) {
      for (int g = 0; g < 2; ++g) {
        float margins[group_lanes];
        _mm512_storeu_ps(margins, at(i, g));
        const index_t col = from_.col() + g * group_lanes;
        for (int lane = 0; lane < group_lanes && col + lane < tile_.cols; ++lane) {
          if (col + lane + tile_.diagonal > from_.row + i) {
            visit(from_.row + i, col + lane, from_.sums[g][i][lane], margins[lane]);
          }
        }
      }
    }
  }

 private:
  const kernel_tile& tile_;
  const strip& from_;
  __m512 scale_[2];
};

__attribute__((noinline)) void visit_above(const strip& found, const kernel_tile& tile,
                                           const exact_test& test) {
  const strip_margins margins(tile, found);
  const __m512 least = _mm512_set1_ps(-tile.band);
  for (int i = 0; i < strip_rows && found.row + i < tile.rows; ++i) {
    for (int g = 0; g < 2; ++g) {
      std::uint32_t lanes = _mm512_cmp_ps_mask(margins.at(i, g), least, _CMP_GE_OQ);
      for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const index_t j = found.col() + g * group_lanes + lane;
        if (j < tile.cols && j + tile.diagonal > found.row + i) {
          (void)test(found.row + i, j, found.sums[g][i][lane]);
        }
      }
    }
  }
}

void search(const kernel_tile& tile, const exact_test& test) {
  for_each_strip<false>(tile, [&](const strip& ready) {
    const strip_margins margins(tile, ready);
    __m512 most[2] = {margins.at(0, 0), margins.at(0, 1)};
    for (int i = 1; i < strip_rows; ++i) {
      for (int g = 0; g < 2; ++g) most[g] = _mm512_max_ps(most[g], margins.at(i, g));
    }
    if (avx512_lanes::any_at_least(_mm512_max_ps(most[0], most[1]), -tile.band)) {
      visit_above(ready, tile, test);
    }
  });
}

class strip_counter {
 public:
  strip_counter(const kernel_tile& tile, const exact_test& test, std::uint32_t* row_degree,
                std::uint32_t* col_degree)
      : tile_(tile), test_(test), row_degree_(row_degree), col_degree_(col_degree) {}

  void operator()(const strip& ready) {
    const bool inside = ready.col() + tile_.diagonal > ready.row + strip_rows - 1 &&
                        ready.row + strip_rows <= tile_.rows &&
                        ready.col() + strip_cols <= tile_.cols;
    if (!inside) return count_pairs(ready);
    constexpr int least_magnitude = 2 | (2 << 2);  // of both, the sign cleared
    const strip_margins margins(tile_, ready);
    const __m512i one = _mm512_set1_epi32(1);
    __m512i columns[2] = {_mm512_set1_epi32(strip_rows), _mm512_set1_epi32(strip_rows)};
    __m512 nearest[2] = {_mm512_set1_ps(3e38f), _mm512_set1_ps(3e38f)};
    std::uint32_t in_strip = 0;
    for (int i = 0; i < strip_rows; ++i) {
      __mmask16 failed[2];
      for (int g = 0; g < 2; ++g) {
        const __m512 margin = margins.at(i, g);
        nearest[g] = _mm512_range_ps(nearest[g], margin, least_magnitude);
        failed[g] = _mm512_movepi32_mask(_mm512_castps_si512(margin));
        columns[g] = _mm512_mask_sub_epi32(columns[g], failed[g], columns[g], one);
      }
      const auto in_row = static_cast<std::uint32_t>(
          strip_cols - __builtin_popcount(_mm512_kunpackw(failed[1], failed[0])));
      row_degree_[ready.row + i] += in_row;
      in_strip += in_row;
    }
    for (int g = 0; g < 2; ++g) {
      avx512_lanes::add_counts(columns[g], col_degree_ + ready.col() + g * group_lanes);
    }
    kept_ += in_strip;
    const __m512 least = _mm512_range_ps(nearest[0], nearest[1], least_magnitude);
    if (avx512_lanes::any_at_most(least, tile_.band)) correct(ready);
  }

  [[nodiscard]] std::uint64_t kept() const { return kept_; }

 private:
  [[nodiscard]] bool is_near(float margin) const {
    return margin <= tile_.band && margin >= -tile_.band;
  }

  __attribute__((noinline)) void count_pairs(const strip& ready) {
    strip_margins(tile_, ready)
        .each_pair([&](index_t row, index_t col, std::int32_t raw, float margin) {
          const bool near = is_near(margin);
          if (near ? !test_(row, col, raw) : margin < 0) return;
          ++row_degree_[row];
          ++col_degree_[col];
          ++kept_;
        });
  }

  // Corrects the counts of pairs whose margin is within the band, where its sign does not decide.
  __attribute__((noinline)) void correct(const strip& ready) {
    strip_margins(tile_, ready)
        .each_pair([&](index_t row, index_t col, std::int32_t raw, float margin) {
          if (!is_near(margin)) return;
          const bool counted = !__builtin_signbit(margin);
          const bool keeps = test_(row, col, raw);
          if (keeps == counted) return;
          const std::uint32_t change = keeps ? 1u : ~0u;
          row_degree_[row] += change;
          col_degree_[col] += change;
          kept_ += keeps ? 1 : ~std::uint64_t{0};
        });
  }

  const kernel_tile& tile_;
  const exact_test& test_;
  std::uint32_t* row_degree_;
  std::uint32_t* col_degree_;
  std::uint64_t kept_ = 0;
};

std::uint64_t count(const kernel_tile& tile, const exact_test& test, std::uint32_t* row_degree,
                    std::uint32_t* col_degree) {
  strip_counter counter(tile, test, row_degree, col_degree);
  for_each_strip<false>(tile, counter);
  return counter.kept();
}

std::uint64_t count_classes(const class_tile& tile, std::uint32_t* row_degree,
                            std::uint32_t* col_degree) {
  return with_class_tile_counter(tile, row_degree, col_degree, [&](auto& counter) {
    for_each_strip<false>(tile, [&](const strip& ready) {
      counter.start(ready.group);
      const auto sums = [&](index_t i, int g) { return _mm512_load_si512(ready.sums[g][i]); };
      if (ready.row + strip_rows <= tile.rows) {
        counter.add(ready.row, strip_rows, sums);
      } else {
        counter.add(ready.row, tile.rows - ready.row, sums);
      }
    });
  });
}

void sums(const kernel_tile& tile, std::int32_t* out, index_t stride) {
  kernel_tile whole = tile;
  whole.diagonal = tile.rows;  // every pair is above it
  for_each_strip<false>(whole, [&](const strip& ready) {
    for (int i = 0; i < strip_rows; ++i) {
      std::int32_t* row = out + (ready.row + i) * stride + ready.col();
      _mm512_storeu_si512(row, _mm512_load_si512(ready.sums[0][i]));
      _mm512_storeu_si512(row + group_lanes, _mm512_load_si512(ready.sums[1][i]));
    }
  });
}

#include "cpu/pairs/loops/kernels_avx512_table.hpp"

}  // namespace

constinit const pair_kernels amx_pair_kernels = [] {
  pair_kernels out = avx512_table<vnni_int16>();
  out.name = "amx";
  out.costs = detail::default_costs::amx;
  out.int8_chunk = tile_steps;
  out.screen = {.search = screen, .columns = packing::signed_int8};
  out.count_classes = count_classes;
  out.int8 = {search, count, sums};
  return out;
}();

}  // namespace gpu::cpu
