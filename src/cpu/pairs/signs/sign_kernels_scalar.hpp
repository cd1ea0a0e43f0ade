#pragma once
// The operations of sign_kernel_body.hpp in plain C++. Included by one file an instruction set.

#include <bit>
#include <cstring>

#include "cpu/pairs/signs/sign_kernel_body.hpp"

namespace gpu::cpu {
namespace {

struct scalar_signs {
  static constexpr index_t rows = 1;
  struct vec {
    std::uint64_t lanes[sign_lanes];
  };

  template <class Make>
  static vec each(const Make& make) {
    vec out;
    for (index_t k = 0; k < sign_lanes; ++k) out.lanes[k] = make(k);
    return out;
  }
  static vec zero() {
    return each([](index_t) { return std::uint64_t{0}; });
  }
  static vec all(std::uint64_t word) {
    return each([&](index_t) { return word; });
  }
  static vec load(const std::uint64_t* from) {
    return each([&](index_t k) { return from[k]; });
  }
  static vec exclusive(const vec& a, const vec& b) {
    return each([&](index_t k) { return a.lanes[k] ^ b.lanes[k]; });
  }
  static vec both(const vec& a, const vec& b) {
    return each([&](index_t k) { return a.lanes[k] & b.lanes[k]; });
  }
  static vec add(const vec& a, const vec& b) {
    return each([&](index_t k) { return a.lanes[k] + b.lanes[k]; });
  }
  static vec count(const vec& a) {
    return each([&](index_t k) { return static_cast<std::uint64_t>(std::popcount(a.lanes[k])); });
  }
  static void add_to(std::int32_t* sums, const vec& common, const vec& different) {
    for (index_t k = 0; k < sign_lanes; ++k) {
      sums[k] += static_cast<std::int32_t>(common.lanes[k]) -
                 2 * static_cast<std::int32_t>(different.lanes[k]);
    }
  }

  // Bytes of 0 or 1 as bits.
  static std::uint64_t bits_of(const std::uint8_t* bytes) {
    std::uint64_t out = 0;
    for (int k = 0; k < 8; ++k) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, bytes + 8 * k, sizeof eight);
      out |= (eight * 0x0102040810204080u >> 56) << (8 * k);
    }
    return out;
  }
  static void compare(const std::uint16_t* values, std::uint16_t value, std::uint64_t& less,
                      std::uint64_t& differ) {
    std::uint8_t bytes[64];
    for (int k = 0; k < 64; ++k) bytes[k] = values[k] < value ? 1 : 0;
    less = bits_of(bytes);
    for (int k = 0; k < 64; ++k) bytes[k] = values[k] != value ? 1 : 0;
    differ = bits_of(bytes);
  }
};

void pack_signs(const std::uint16_t* values, index_t cols, std::uint64_t* less,
                std::uint64_t* differ) {
  pack_signs_with(values, cols, less, differ, scalar_signs::compare);
}

void add_sums(const sign_block& block) {
  add_sums_with<scalar_signs>(block);
}

}  // namespace
}  // namespace gpu::cpu
