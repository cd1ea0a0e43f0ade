#pragma once
/// @file
/// A checksum of pairs with their statistics that does not depend on their order and adds up.

#include <bit>
#include <cstdint>
#include <string>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

namespace gpu {
inline namespace v0 {

/// Checksum of a set of pairs with their statistics. The checksums of two disjoint sets add up to
/// that of both, so the parts of a job have the checksum of the whole, whoever computed them and in
/// whatever order. It differs for a set with a pair missing, repeated or with another statistic,
/// except with a probability of about 2^-128.
///
/// For each pair (i, j) with statistic s, mix1 and mix2 are two 64-bit mixes of i, j and the bits
/// of s, as checksum_of has them; the members are sums over the pairs, modulo 2^64.
struct pair_checksum {
  std::uint64_t count = 0;  ///< Number of pairs.
  std::uint64_t mix1 = 0;   ///< Sum of the first mix.
  std::uint64_t mix2 = 0;   ///< Sum of the second mix.

  /// Adds the checksum of other pairs.
  constexpr pair_checksum& operator+=(const pair_checksum& other) {
    count += other.count;
    mix1 += other.mix1;
    mix2 += other.mix2;
    return *this;
  }
  /// The checksum of the pairs of both.
  friend constexpr pair_checksum operator+(pair_checksum a, const pair_checksum& b) {
    return a += b;
  }
  /// Whether all members are equal.
  friend bool operator==(const pair_checksum&, const pair_checksum&) = default;
};

namespace detail {

/// The finaliser of Murmur3: a bijection; every bit of the result depends on every bit of `x`.
constexpr std::uint64_t murmur_mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}
/// The finaliser of SplitMix64: another one.
constexpr std::uint64_t split_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace detail

/// The checksum of one pair: with k = 2^32 row + col + 0x9e3779b97f4a7c15 and s the bits of the
/// statistic as an IEEE double, -0 taken as 0, mix1 = murmur(split(k) + s) and mix2 =
/// split(murmur(k) + s), modulo 2^64; murmur and split are the finalisers of Murmur3 and of
/// SplitMix64. `row` and `col` are as an edge or a table of neighbours gives them: of a part those
/// of the whole job, and of x against y, `col` is a row of y.
constexpr pair_checksum checksum_of(node_id row, node_id col, double statistic) {
  const std::uint64_t key = (std::uint64_t{row} << 32 | col) + 0x9e3779b97f4a7c15ULL;
  const auto bits = std::bit_cast<std::uint64_t>(statistic + 0.0);
  return {.count = 1,
          .mix1 = detail::murmur_mix(detail::split_mix(key) + bits),
          .mix2 = detail::split_mix(detail::murmur_mix(key) + bits)};
}

/// "count:mix1:mix2", the count in decimal and each mix in 16 hexadecimal digits: as the command
/// writes it.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string to_string(const pair_checksum& checksum);

}  // namespace v0
}  // namespace gpu
