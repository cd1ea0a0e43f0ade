// Sums of products with VNNI. Included inside the unnamed namespace of a file compiled for AVX-512
// with VNNI, after cpu/pairs/loops/kernels_avx512_ops.hpp.

// vpdpbusd multiplies unsigned by signed bytes: the columns are stored plus 128, which adds 128
// times the sum of a row, and that is 0.
struct vnni_int8 : avx512_integer_lanes {
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    s = _mm512_dpbusd_epi32(s, c, row_step(p));
  }
};

struct vnni_int16 : avx512_integer_lanes {
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    s = _mm512_dpwssd_epi32(s, c, row_step(p));
  }
};
