#pragma once
// Similarities of sets of column numbers: Tanimoto's, Dice's and Tversky's. Slow on purpose, and
// shares nothing with the library.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace gpu_test {

/// A row: the ascending numbers of its columns.
using column_set = std::vector<std::int64_t>;

struct set_sizes {
  std::int64_t common;
  std::int64_t either;
};

inline set_sizes sizes_of(const column_set& a, const column_set& b) {
  column_set common;
  column_set either;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
  return {static_cast<std::int64_t>(common.size()), static_cast<std::int64_t>(either.size())};
}

/// A Tversky index: alpha and beta as fractions of one denominator. Tanimoto's without arguments.
struct set_fractions {
  std::int64_t denominator = 1;
  std::int64_t alpha = 1;
  std::int64_t beta = 1;
};

/// The numerator and the denominator of a Tversky index: `common` of `either`. 0 of 1 where nothing
/// is common.
inline set_sizes terms_of(const column_set& a, const column_set& b, const set_fractions& of) {
  const std::int64_t common = sizes_of(a, b).common;
  if (common == 0) return {0, 1};
  const auto alone = [common](const column_set& set) {
    return static_cast<std::int64_t>(set.size()) - common;
  };
  const std::int64_t both = of.denominator * common;
  return {both, both + of.alpha * alone(a) + of.beta * alone(b)};
}

/// 0 of two empty sets.
inline double reference_tanimoto(const column_set& a, const column_set& b) {
  const set_sizes sizes = sizes_of(a, b);
  if (sizes.either == 0) return 0;
  return static_cast<double>(sizes.common) / static_cast<double>(sizes.either);
}

/// Whether a ratio is larger than another, by integers.
inline bool is_larger(const set_sizes& a, const set_sizes& b) {
  const std::int64_t a_all = a.either == 0 ? 1 : a.either;
  const std::int64_t b_all = b.either == 0 ? 1 : b.either;
  return a.common * b_all > b.common * a_all;
}

}  // namespace gpu_test
