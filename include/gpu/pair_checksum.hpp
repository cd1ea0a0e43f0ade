#pragma once
/// @file
/// A checksum of pairs with their statistics that does not depend on their order and adds up.

#include <cstdint>

namespace gpu {
inline namespace v0 {

/// Checksum of a set of pairs with their statistics. The checksums of two disjoint sets add up to
/// that of both, so the parts of a job have the checksum of the whole, whoever computed them and in
/// whatever order. A pair that is lost, appears twice or has another statistic changes it but with
/// a probability of about 2^-128.
///
/// Of each pair (i, j) with statistic s, mix1 and mix2 are two 64-bit mixes of i, j and the bits of
/// s; the members are sums over the pairs, modulo 2^64.
struct pair_checksum {
  std::uint64_t count = 0;  ///< Number of pairs.
  std::uint64_t mix1 = 0;   ///< Sum of the first mix.
  std::uint64_t mix2 = 0;   ///< Sum of the second mix.

  /// Adds the checksum of other pairs.
  pair_checksum& operator+=(const pair_checksum& other) {
    count += other.count;
    mix1 += other.mix1;
    mix2 += other.mix2;
    return *this;
  }
  /// The checksum of the pairs of both.
  friend pair_checksum operator+(pair_checksum a, const pair_checksum& b) { return a += b; }
  /// Whether all members are equal.
  friend bool operator==(const pair_checksum&, const pair_checksum&) = default;
};

}  // namespace v0
}  // namespace gpu
