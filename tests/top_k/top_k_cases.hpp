#pragma once
// Inputs and checks of top_k, shared by the tests of every backend and variant.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gpu/top_k.hpp>

#include "reference/top_k_reference.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// Kinds of input; the later ones are hard for one or another way of selecting.
enum class input_kind {
  random,
  few_distinct,
  all_equal,
  nearly_all_equal,
  ascending,
  descending,
  signed_zeros,
  with_nans,
  mostly_nans,
  all_zero
};

inline constexpr input_kind every_input[] = {input_kind::random,       input_kind::few_distinct,
                                             input_kind::all_equal,    input_kind::nearly_all_equal,
                                             input_kind::ascending,    input_kind::descending,
                                             input_kind::signed_zeros, input_kind::with_nans,
                                             input_kind::mostly_nans,  input_kind::all_zero};

template <class T>
std::vector<T> make_input(input_kind kind, std::size_t n, std::uint64_t seed = 1) {
  std::mt19937_64 engine(seed);
  const auto any = [&] {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::normal_distribution<double>(0, 100)(engine));
    } else {
      return static_cast<T>(engine());
    }
  };
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();  // 0 for integers
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto u = engine();
    switch (kind) {
      case input_kind::few_distinct:
        x[i] = static_cast<T>(u % 5);
        break;
      case input_kind::all_equal:
        x[i] = static_cast<T>(7);
        break;
      case input_kind::all_zero:
        break;
      case input_kind::nearly_all_equal:
        x[i] = u % 100 == 0 ? any() : static_cast<T>(7);
        break;
      case input_kind::signed_zeros:
        x[i] = u % 3 == 0 ? -T{0} : u % 3 == 1 ? T{0} : static_cast<T>(u % 7 == 0 ? 1 : -1);
        break;
      case input_kind::with_nans:
        x[i] = u % 4 == 0 ? nan : u % 9 == 0 ? std::numeric_limits<T>::max() : any();
        if (u % 101 == 1) x[i] = std::numeric_limits<T>::infinity();
        if (u % 101 == 2) x[i] = static_cast<T>(-std::numeric_limits<T>::infinity());
        break;
      case input_kind::mostly_nans:
        x[i] = u % 50 == 0 ? any() : nan;
        break;
      default:
        x[i] = any();
    }
  }
  if (kind == input_kind::ascending) std::sort(x.begin(), x.end());
  if (kind == input_kind::descending) std::sort(x.rbegin(), x.rend());
  return x;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether values and indices are the reference's; sorts them first where any order will do.
template <class T>
bool agrees(std::vector<T> values, std::vector<gpu::index_t> indices,
            const std::vector<reference_entry<T>>& expected, gpu::top_k_order order) {
  if (values.size() != expected.size() || indices.size() != expected.size()) return false;
  std::vector<std::pair<gpu::index_t, T>> got;
  std::vector<std::pair<gpu::index_t, T>> want;
  for (std::size_t i = 0; i < values.size(); ++i) {
    got.emplace_back(indices[i], values[i]);
    want.emplace_back(expected[i].index, expected[i].value);
  }
  if (order == gpu::top_k_order::unsorted) {
    const auto by_index = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(got.begin(), got.end(), by_index);
    std::sort(want.begin(), want.end(), by_index);
  }
  return std::equal(got.begin(), got.end(), want.begin(), [](const auto& a, const auto& b) {
    return a.first == b.first && same_bits(a.second, b.second);
  });
}

template <class T>
bool top_k_is_right(const std::vector<T>& x, gpu::index_t k, const gpu::top_k_options& options) {
  const auto result = gpu::top_k(x, k, options);
  const bool largest = options.select == gpu::top_k_select::largest;
  const auto expected = reference_top_k(x.data(), x.size(), static_cast<std::size_t>(k), largest);
  return result.requested == k && result.clamped() == (k > static_cast<gpu::index_t>(x.size())) &&
         agrees(result.values, result.indices, expected, options.order);
}

template <class T>
bool distinct_is_right(const std::vector<T>& x, gpu::index_t k, const gpu::top_k_options& options) {
  const auto result = gpu::top_k_distinct(x, k, options);
  const bool largest = options.select == gpu::top_k_select::largest;
  const auto expected =
      reference_top_k_distinct(x.data(), x.size(), static_cast<std::size_t>(k), largest);
  if (!agrees(result.values, result.indices, expected, gpu::top_k_order::sorted)) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (result.counts[i] != expected[i].count) return false;
  }
  return result.clamped() == (static_cast<gpu::index_t>(expected.size()) < k);
}

template <class T>
bool rows_are_right(gpu::matrix_view<const T> x, gpu::index_t k,
                    const gpu::top_k_options& options) {
  const auto result = gpu::top_k(x, k, options);
  const bool largest = options.select == gpu::top_k_select::largest;
  if (result.values.rows() != x.rows()) return false;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    const auto expected = reference_top_k(x.row(i), static_cast<std::size_t>(x.cols()),
                                          static_cast<std::size_t>(k), largest);
    const auto values = result.values.row(i);
    const auto indices = result.indices.row(i);
    if (!agrees<T>({values.begin(), values.end()}, {indices.begin(), indices.end()}, expected,
                   options.order)) {
      return false;
    }
  }
  return true;
}

template <class T>
bool distinct_rows_are_right(gpu::matrix_view<const T> x, gpu::index_t k,
                             const gpu::top_k_options& options) {
  const auto result = gpu::top_k_distinct(x, k, options);
  const bool largest = options.select == gpu::top_k_select::largest;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    const auto expected = reference_top_k_distinct(x.row(i), static_cast<std::size_t>(x.cols()),
                                                   static_cast<std::size_t>(k), largest);
    const auto found = static_cast<std::size_t>(result.found[static_cast<std::size_t>(i)]);
    if (found != expected.size()) return false;
    for (gpu::index_t j = 0; j < result.values.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const reference_entry<T> want = at < found ? expected[at] : reference_entry<T>{T{}, -1, 0};
      if (!same_bits(result.values(i, j), want.value) || result.indices(i, j) != want.index ||
          result.counts(i, j) != want.count) {
        return false;
      }
    }
  }
  return true;
}

inline std::string describe(input_kind kind, std::size_t n, gpu::index_t k,
                            const gpu::top_k_options& options) {
  return "input " + std::to_string(static_cast<int>(kind)) + " n " + std::to_string(n) + " k " +
         std::to_string(k) + " select " + std::to_string(static_cast<int>(options.select)) +
         " order " + std::to_string(static_cast<int>(options.order)) + " variant " +
         std::string(gpu::to_string(options.variant));
}

/// Every kind of input, both directions, both orders.
template <class T>
void check_vectors(gpu::backend target, gpu::top_k_variant variant,
                   const std::vector<std::size_t>& sizes, const std::vector<gpu::index_t>& ks) {
  for (const input_kind kind : every_input) {
    for (const std::size_t n : sizes) {
      const std::vector<T> x = make_input<T>(kind, n, n);
      for (const gpu::index_t k : ks) {
        for (const auto select : {gpu::top_k_select::largest, gpu::top_k_select::smallest}) {
          gpu::top_k_options options{.select = select, .variant = variant};
          options.exec.target = target;
          if (k % 2 == 0) options.order = gpu::top_k_order::unsorted;
          INFO(describe(kind, n, k, options));
          CHECK(top_k_is_right(x, k, options));
        }
      }
    }
  }
}

template <class T>
void check_distinct_vectors(gpu::backend target, gpu::top_k_variant variant,
                            const std::vector<std::size_t>& sizes,
                            const std::vector<gpu::index_t>& ks) {
  for (const input_kind kind : every_input) {
    for (const std::size_t n : sizes) {
      const std::vector<T> x = make_input<T>(kind, n, n);
      for (const gpu::index_t k : ks) {
        for (const auto select : {gpu::top_k_select::largest, gpu::top_k_select::smallest}) {
          gpu::top_k_options options{.select = select, .variant = variant};
          options.exec.target = target;
          INFO(describe(kind, n, k, options));
          CHECK(distinct_is_right(x, k, options));
        }
      }
    }
  }
}

/// Matrices whose rows stand `padding` elements further apart than they are long.
template <class T>
void check_rows(gpu::backend target, gpu::top_k_variant variant, bool distinct, gpu::index_t rows,
                gpu::index_t cols, gpu::index_t k, gpu::index_t padding) {
  for (const input_kind kind : every_input) {
    const gpu::index_t stride = cols + padding;
    const std::vector<T> x =
        make_input<T>(kind, static_cast<std::size_t>(rows * stride), static_cast<std::uint64_t>(k));
    const gpu::matrix_view<const T> view(x.data(), rows, cols, stride);
    for (const auto select : {gpu::top_k_select::largest, gpu::top_k_select::smallest}) {
      gpu::top_k_options options{.select = select, .variant = variant};
      options.exec.target = target;
      INFO(rows << " rows, " << describe(kind, static_cast<std::size_t>(cols), k, options));
      CHECK((distinct ? distinct_rows_are_right(view, k, options)
                      : rows_are_right(view, k, options)));
    }
  }
}

}  // namespace gpu_test
