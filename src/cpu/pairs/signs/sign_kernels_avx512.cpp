#include <immintrin.h>

#include "cpu/pairs/signs/sign_kernel_body.hpp"

namespace gpu::cpu {
namespace {

struct avx512_signs {
  static constexpr index_t rows = 4;
  using vec = __m512i;

  static vec zero() { return _mm512_setzero_si512(); }
  static vec all(std::uint64_t word) { return _mm512_set1_epi64(static_cast<long long>(word)); }
  static vec load(const std::uint64_t* from) { return _mm512_load_si512(from); }
  static vec exclusive(vec a, vec b) { return _mm512_xor_si512(a, b); }
  static vec both(vec a, vec b) { return _mm512_and_si512(a, b); }
  static vec add(vec a, vec b) { return _mm512_add_epi64(a, b); }
  static vec count(vec a) { return _mm512_popcnt_epi64(a); }
  static void add_to(std::int32_t* sums, vec common, vec different) {
    const vec change = _mm512_sub_epi64(common, _mm512_add_epi64(different, different));
    auto* const to = reinterpret_cast<__m256i*>(sums);
    _mm256_storeu_si256(to,
                        _mm256_add_epi32(_mm256_loadu_si256(to), _mm512_cvtepi64_epi32(change)));
  }
  static void compare(const std::uint16_t* values, std::uint16_t value, std::uint64_t& less,
                      std::uint64_t& differ) {
    const vec one = _mm512_set1_epi16(static_cast<short>(value));
    const vec low = _mm512_loadu_si512(values);
    const vec high = _mm512_loadu_si512(values + 32);
    less = _mm512_cmplt_epu16_mask(low, one) | std::uint64_t{_mm512_cmplt_epu16_mask(high, one)}
                                                   << 32;
    differ = _mm512_cmpneq_epu16_mask(low, one) | std::uint64_t{_mm512_cmpneq_epu16_mask(high, one)}
                                                      << 32;
  }
};

void pack_signs(const std::uint16_t* values, index_t cols, std::uint64_t* less,
                std::uint64_t* differ) {
  pack_signs_with(values, cols, less, differ, avx512_signs::compare);
}

void add_sums(const sign_block& block) {
  add_sums_with<avx512_signs>(block);
}

}  // namespace

const sign_kernels avx512_sign_kernels{
    .pack_signs = pack_signs, .add_sums = add_sums, .most_cols = 2048};

}  // namespace gpu::cpu
