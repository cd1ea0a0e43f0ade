#include <immintrin.h>

#include "cpu/tanimoto/screen.hpp"

namespace gpu::cpu {

std::uint64_t screen_avx2(const std::int32_t* unions, const std::int32_t* ones, std::int32_t own,
                          float t, float least) {
  const __m256i row = _mm256_set1_epi32(own);
  const __m256 factor = _mm256_set1_ps(t);
  const __m256 bound = _mm256_set1_ps(least);
  std::uint64_t found = 0;
  for (int j = 0; j < screen_cols; j += 8) {
    const __m256i other = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + j));
    const __m256i either = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(unions + j));
    const __m256 common =
        _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_sub_epi32(row, either), other));
    const __m256 above = _mm256_sub_ps(common, _mm256_mul_ps(factor, _mm256_cvtepi32_ps(other)));
    const int passes = _mm256_movemask_ps(_mm256_cmp_ps(above, bound, _CMP_GE_OQ));
    found |= static_cast<std::uint64_t>(static_cast<unsigned>(passes)) << j;
  }
  return found;
}

}  // namespace gpu::cpu
