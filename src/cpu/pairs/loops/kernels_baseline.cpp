// All-pairs kernels for any processor: plain C++, whose lanes the compiler vectorises, and SSE2
// where that is part of every processor.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_dots_body.hpp"
#include "cpu/pairs/loops/kernel_doubles.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"

struct plain_double {
  using vec = double;
  static vec fused(vec a, vec b, vec c) { return std::fma(a, b, c); }
  static double combine(const double* s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
  static vec magnitude(vec a) { return std::fabs(a); }
  static vec most(vec a, vec b) { return a > b ? a : b; }
  static bool all_at_most(const vec (&a)[8], const vec (&b)[8]) {
    bool all = true;
    for (int l = 0; l < 8; ++l) all &= a[l] <= b[l];
    return all;
  }
  template <class Integer>
  static vec from(const Integer* p) {
    return *p;
  }
  static void to_int16(const vec (&at)[8], std::int16_t* p) {
    for (int l = 0; l < 8; ++l) p[l] = static_cast<std::int16_t>(static_cast<int>(at[l]));
  }
};
using plain_eight = eight_doubles<plain_double>;
using plain_dots = dots_body<doubles<plain_double>, 1>;

struct plain_pairwise : doubles<plain_double> {
  static constexpr int rows = 2;
  static vec add_where(vec sum, vec x, vec has) {
#if defined(__FP_FAST_FMA)
    return fused(x, has, sum);
#else  // fma is a call.
    return has != 0 ? sum + x : sum;
#endif
  }
  static vec add_if(vec sum, vec x, vec has) { return add_where(sum, x, has); }
};

typedef std::int32_t int4 __attribute__((vector_size(16)));

// Adds two products of 16 bits a lane.
inline int4 add_products(int4 sum, int4 a, int4 b) {
#if defined(__SSE2__)
  // Every x86-64 processor has this instruction, and GCC finds it in no loop.
  const __m128i products =
      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b));
  return sum + reinterpret_cast<int4>(products);
#else
  return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

struct plain_masks : doubles<plain_double> {
  static constexpr int product_rows = 2;
  using ints = int4;
  static constexpr index_t int16_lanes = 8;
  static ints no_ints() { return ints{}; }
  static ints load_ints(const std::int16_t* p) {
    ints out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
  }
  static ints add_products(ints sum, ints a, ints b) { return cpu::add_products(sum, a, b); }
  static void totals(const ints (&sums)[4], std::int32_t (&out)[4]) {
    for (int i = 0; i < 4; ++i) out[i] = sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  }
};

template <class T>
struct sixteen {
  T lane[group_lanes];
};

struct plain_lanes {
  static constexpr int rows = 2;
  static constexpr int groups = 1;
  using real = sixteen<float>;
  using counter = sixteen<std::uint32_t>;

  template <class Result, class Function>
  static Result each(const Function& function) {
    Result out;
    for (int l = 0; l < group_lanes; ++l) out.lane[l] = function(l);
    return out;
  }
  static real load_real(const float* p) {
    return each<real>([&](int l) { return p[l]; });
  }
  static void store_real(const real& x, float* p) { __builtin_memcpy(p, &x, sizeof x); }
  static real spread(float x) {
    return each<real>([&](int) { return x; });
  }
  static real signed_real(const real& x, std::uint32_t flip, std::uint32_t keep) {
    sixteen<std::uint32_t> bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    for (auto& b : bits.lane) b = (b ^ flip) & keep;
    real out;
    __builtin_memcpy(&out, &bits, sizeof out);
    return out;
  }
  // In double, where the product is exact: one rounding, as a fused operation has.
  static real margin(const real& cut, const real& scale, const real& x) {
    return each<real>([&](int l) {
      return static_cast<float>(x.lane[l] - static_cast<double>(cut.lane[l]) * scale.lane[l]);
    });
  }
  static real least(const real& a, const real& b) {
    return each<real>([&](int l) { return a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l]; });
  }
  static real most(const real& a, const real& b) {
    return each<real>([&](int l) { return a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l]; });
  }
  static real magnitude(const real& a) { return signed_real(a, 0, 0x7fffffffu); }
  static bool any_at_most(const real& a, float b) {
    bool any = false;
    for (const float x : a.lane) any |= x <= b;
    return any;
  }
  static bool any_at_least(const real& a, float b) {
    bool any = false;
    for (const float x : a.lane) any |= x >= b;
    return any;
  }
  static std::uint32_t bits_at_least(const real& a, float b) {
    std::uint32_t bits = 0;
    for (int l = 0; l < group_lanes; ++l) bits |= (a.lane[l] >= b ? 1u : 0u) << l;
    return bits;
  }
  static std::uint32_t bits_not_negative(const real& a) {
    std::uint32_t bits = 0;
    for (int l = 0; l < group_lanes; ++l) bits |= (a.lane[l] >= 0 ? 1u : 0u) << l;
    return bits;
  }
  static counter no_counts() { return {}; }
  static void add_bits(counter& c, std::uint32_t bits) {
    for (int l = 0; l < group_lanes; ++l) c.lane[l] += (bits >> l) & 1u;
  }
  static void add_counts(const counter& c, std::uint32_t* p) {
    for (int l = 0; l < group_lanes; ++l) p[l] += c.lane[l];
  }
};

struct base_int16 : plain_lanes {
  struct sum {
    int4 part[4];
  };
  using column = sum;
  static sum zero() { return {}; }
  static column load(const std::uint8_t* p) {
    column out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
  }
  static void accumulate(sum& s, const column& c, const std::uint8_t* p) {
    std::int32_t value;
    __builtin_memcpy(&value, p, sizeof value);
    const int4 row = {value, value, value, value};
    for (int q = 0; q < 4; ++q) s.part[q] = add_products(s.part[q], c.part[q], row);
  }
  static real to_real(const sum& s) {
    return each<real>([&](int l) { return static_cast<float>(s.part[l / 4][l % 4]); });
  }
  static void store(const sum& s, std::int32_t* p) { __builtin_memcpy(p, &s, sizeof s); }
  static void add_to(const sum& s, double* p) {
    for (int l = 0; l < group_lanes; ++l) p[l] += s.part[l / 4][l % 4];
  }
};

struct plain_float32 : plain_lanes {
  using sum = real;
  using column = real;
  static sum zero() { return {}; }
  static column load(const std::uint8_t* p) {
    column out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
  }
  static void accumulate(sum& s, const column& c, const std::uint8_t* p) {
    float row;
    __builtin_memcpy(&row, p, sizeof row);
    for (int l = 0; l < group_lanes; ++l) s.lane[l] += c.lane[l] * row;
  }
  static real to_real(const sum& s) { return s; }
  static void store(const sum& s, std::int32_t* p) { __builtin_memcpy(p, &s, sizeof s); }
};

}  // namespace

const pair_kernels baseline_pair_kernels{
    .name = "baseline",
    .costs = detail::default_costs::baseline,
    .int16 = kernel_body<base_int16>::kernels(),
    .float32 = kernel_body<plain_float32>::kernels(),
    .rho = rho_of_row<std::int32_t>,
    .add_products = product_body<base_int16>::add,
    .rho_of_doubles = rho_of_row<double>,
    .select = select_sums,
    .ordered_dots = plain_dots::ordered,
    .add_partial_sums = plain_dots::add,
    .combine_partial_sums = plain_dots::combine_all,
    .row = unit_row_body<plain_eight>::passes(),
    .round_doubles = rounding_body<plain_eight, double>::kernels(),
    .round_int16 = rounding_body<plain_eight, std::int16_t>::kernels(),
    .round_int32 = rounding_body<plain_eight, std::int32_t>::kernels(),
    .pairwise_counts = pairwise_counts,
    .pairwise_statistics = pairwise_body<plain_pairwise>::statistics,
    .pairwise_rank_sums = pairwise_rank_sums,
    .mask_values = mask_body<plain_masks>::values,
    .mask_ranks = mask_body<plain_masks>::ranks,
    .int8_dot = dot_of<std::int8_t>,
    .int16_dot = dot_of<std::int16_t>,
    .int32_dot = dot_of<std::int32_t>};

}  // namespace gpu::cpu
