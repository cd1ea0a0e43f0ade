#pragma once
// What the CPU's top_k files share: an entry, the order of entries, and a bound from a sample.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <gpu/top_k.hpp>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/top_k/scan.hpp"

namespace gpu::cpu {

/// A candidate: a value that is not NaN, and where it stands.
template <class T>
struct top_k_entry {
  T value;
  index_t index;
};

/// The order of values. NaN never takes part: it is left out of candidates and added at the end.
template <class T>
struct value_order {
  bool largest;
  [[nodiscard]] bool better(T a, T b) const { return largest ? a > b : a < b; }
  /// Total order of entries: better value first, then lowest index.
  [[nodiscard]] bool operator()(const top_k_entry<T>& a, const top_k_entry<T>& b) const {
    if (better(a.value, b.value)) return true;
    if (better(b.value, a.value)) return false;
    return a.index < b.index;
  }
  [[nodiscard]] scan_test beats() const { return largest ? scan_test::greater : scan_test::less; }
  [[nodiscard]] scan_test reaches() const {
    return largest ? scan_test::greater_equal : scan_test::less_equal;
  }
};

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

/// The values, without NaN, at `count` positions spread over the data: one in each of `count` equal
/// strata, at a place that a hash of the stratum's number gives, so that no period of the data can
/// coincide with them.
template <class T>
std::vector<T> sample_values(const T* data, index_t n, index_t count) {
  std::vector<T> sample;
  sample.reserve(static_cast<std::size_t>(count));
  for (index_t s = 0; s < count; ++s) {
    const index_t begin = s * n / count;
    const auto width = static_cast<std::uint64_t>((s + 1) * n / count - begin);
    const auto hash = static_cast<std::uint64_t>(s + 1) * 0x9e3779b97f4a7c15u;
    const T value = data[begin + static_cast<index_t>((hash >> 33) % width)];
    if (!is_nan(value)) sample.push_back(value);
  }
  return sample;
}

/// Runs the scan over [begin, end) and hands each batch of hits to `take(hits, count)`, which
/// may change `test` and `bound` for what follows. Polls the call's progress between pieces.
template <class T, class Take>
void scan_all(const T* data, index_t begin, index_t end, scan_test& test, T& bound,
              std::vector<std::uint64_t>& hits, const Take& take) {
  const auto scan = scan_of<T>(usable_scan_table());
  detail::in_polled_pieces(end - begin, [&](index_t from, index_t to) {
    auto at = static_cast<std::size_t>(begin + from);
    const auto last = static_cast<std::size_t>(begin + to);
    while (at < last) {
      const scan_result result = scan(test, data, at, last, bound, hits.data(), hits.size());
      take(hits.data(), result.hits);
      at = result.next;
    }
  });
}

}  // namespace gpu::cpu
