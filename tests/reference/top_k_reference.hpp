#pragma once
// What top_k must answer: a stable sort of all positions, nothing clever.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include <gpu/index.hpp>

namespace gpu_test {

template <class T>
struct reference_entry {
  T value;
  gpu::index_t index;
  gpu::index_t count;
};

template <class T>
bool reference_is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// Whether a stands before b: better values first, NaN last, everything else undecided.
template <class T>
bool reference_before(T a, T b, bool largest) {
  if (reference_is_nan(a)) return false;
  if (reference_is_nan(b)) return true;
  return largest ? a > b : a < b;
}

/// All elements in their order; equal ones by position, as the sort is stable.
template <class T>
std::vector<reference_entry<T>> reference_order(const T* data, std::size_t n, bool largest) {
  std::vector<std::size_t> position(n);
  std::iota(position.begin(), position.end(), std::size_t{0});
  std::stable_sort(position.begin(), position.end(), [&](std::size_t i, std::size_t j) {
    return reference_before(data[i], data[j], largest);
  });
  std::vector<reference_entry<T>> out;
  for (const std::size_t i : position) {
    out.push_back({data[i], static_cast<gpu::index_t>(i), 1});
  }
  return out;
}

template <class T>
std::vector<reference_entry<T>> reference_top_k(const T* data, std::size_t n, std::size_t k,
                                                bool largest) {
  std::vector<reference_entry<T>> all = reference_order(data, n, largest);
  all.resize(std::min(n, k));
  return all;
}

/// The same of the distinct values: neighbours in that order that neither stand before the other.
template <class T>
std::vector<reference_entry<T>> reference_top_k_distinct(const T* data, std::size_t n,
                                                         std::size_t k, bool largest) {
  std::vector<reference_entry<T>> out;
  for (const reference_entry<T>& entry : reference_order(data, n, largest)) {
    if (!out.empty() && !reference_before(out.back().value, entry.value, largest)) {
      ++out.back().count;
    } else {
      if (out.size() == k) break;
      out.push_back(entry);
    }
  }
  return out;
}

}  // namespace gpu_test
