#include <immintrin.h>

#include "cpu/tanimoto/screen.hpp"

namespace gpu::cpu {

std::uint64_t screen_avx512(const std::int32_t* unions, const std::int32_t* ones, std::int32_t own,
                            float t, float least) {
  const __m512i row = _mm512_set1_epi32(own);
  const __m512 factor = _mm512_set1_ps(t);
  const __m512 bound = _mm512_set1_ps(least);
  std::uint64_t found = 0;
  for (int j = 0; j < screen_cols; j += 16) {
    const __m512i other = _mm512_loadu_si512(ones + j);
    const __m512i either = _mm512_loadu_si512(unions + j);
    const __m512 common =
        _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_sub_epi32(row, either), other));
    const __m512 above = _mm512_fnmadd_ps(factor, _mm512_cvtepi32_ps(other), common);
    const __mmask16 passes = _mm512_cmp_ps_mask(above, bound, _CMP_GE_OQ);
    found |= static_cast<std::uint64_t>(passes) << j;
  }
  return found;
}

}  // namespace gpu::cpu
