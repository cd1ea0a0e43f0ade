#pragma once
// How the ranking kernels read elements and write ranks. The element type is a run-time tag, the
// same for a whole launch: comparisons work on ordered keys of 32 or 64 bits, so one kernel serves
// every type, and the branch on the tag costs nothing beside them.

#include <cstdint>
#include <type_traits>

#include <gpu/index.hpp>
#include <gpu/rank.hpp>

#include "base/ordered_key.hpp"

namespace gpu::kernels {

enum class element_tag : int { i8, i16, i32, u8, u16, f32, f64 };

template <class T>
constexpr element_tag tag_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return element_tag::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return element_tag::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return element_tag::i32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return element_tag::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return element_tag::u16;
  if constexpr (std::is_same_v<T, float>) return element_tag::f32;
  if constexpr (std::is_same_v<T, double>) return element_tag::f64;
}

/// Calls body(T{}) for the type that the tag names.
template <class Body>
__device__ __forceinline__ void visit_tag(element_tag tag, Body&& body) {
  switch (tag) {
    case element_tag::i8:
      return body(std::int8_t{});
    case element_tag::i16:
      return body(std::int16_t{});
    case element_tag::i32:
      return body(std::int32_t{});
    case element_tag::u8:
      return body(std::uint8_t{});
    case element_tag::u16:
      return body(std::uint16_t{});
    case element_tag::f32:
      return body(float{});
    case element_tag::f64:
      return body(double{});
  }
}

/// The same for tags whose elements have keys as wide as Key: 64 bits for double, else 32.
template <class Key, class Body>
__device__ __forceinline__ void visit_tag_of(element_tag tag, Body&& body) {
  if constexpr (sizeof(Key) == 8) {
    body(double{});
  } else {
    visit_tag(tag, [&](auto type) {
      if constexpr (sizeof(type) <= 4) body(type);
    });
  }
}

/// The rows to rank. `flip` is xored onto every key: all ones of the key for descending order.
struct rank_source {
  const void* data;
  index_t rows;
  index_t stride;
  int cols;
  element_tag tag;
  int key_bits;
  std::uint64_t flip;

  template <class T>
  [[nodiscard]] __device__ __forceinline__ T element(index_t row, index_t col) const {
    return static_cast<const T*>(data)[row * stride + col];
  }

  /// The key of an element before `flip`; Key is 64 bits wide for double, else 32.
  template <class Key>
  [[nodiscard]] __device__ __forceinline__ Key plain_key(index_t row, index_t col) const {
    Key key = 0;
    visit_tag_of<Key>(
        tag, [&](auto type) { key = detail::ordered_key(element<decltype(type)>(row, col)); });
    return key;
  }

  /// keys[i] = the key, after `flip`, of column column_of(i) of a row, where holds(i). All are
  /// being read before the first of them is needed.
  template <class Key, int Count, class ColumnOf, class Holds>
  __device__ __forceinline__ void load_keys(index_t row, const ColumnOf& column_of,
                                            const Holds& holds, Key (&keys)[Count]) const {
    visit_tag_of<Key>(tag, [&](auto type) {
      using T = decltype(type);
      const T* elements = static_cast<const T*>(data) + row * stride;
      T values[Count];
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        if (holds(i)) values[i] = elements[column_of(i)];
      }
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        if (holds(i)) keys[i] = detail::ordered_key(values[i]) ^ static_cast<Key>(flip);
      }
    });
  }

  template <class Key>
  [[nodiscard]] __device__ __forceinline__ bool is_nan(Key plain) const {
    return (tag == element_tag::f32 || tag == element_tag::f64) &&
           plain == static_cast<Key>(~Key{0});
  }
};

enum class target_tag : int { i8, i16, i32, f64 };

/// Where the counts of plan/rank_variants.hpp go: as integers with zeroed padding and square sums,
/// or as ranks scale * count + offset.
struct rank_target {
  void* data;
  index_t stride;
  index_t cols;  // columns to write: those beyond the source's are padding
  target_tag tag;
  double scale;
  double offset;
  std::int64_t* square_sums;  // null for ranks

  __device__ __forceinline__ void store(index_t row, index_t col, int count, bool nan_row) const {
    const index_t at = row * stride + col;
    switch (tag) {
      case target_tag::i8:
        static_cast<std::int8_t*>(data)[at] = static_cast<std::int8_t>(count);
        return;
      case target_tag::i16:
        static_cast<std::int16_t*>(data)[at] = static_cast<std::int16_t>(count);
        return;
      case target_tag::i32:
        static_cast<std::int32_t*>(data)[at] = count;
        return;
      case target_tag::f64:
        static_cast<double*>(data)[at] =
            nan_row ? __longlong_as_double(0x7ff8000000000000) : scale * count + offset;
        return;
    }
  }
};

/// The count of an element at sorted place `at` in a run of equal ones at places [first, last).
__device__ __forceinline__ int count_in_run(tie_method ties, int cols, int first, int last, int at,
                                            int distinct) {
  switch (ties) {
    case tie_method::average:
      return first + last - cols;
    case tie_method::min:
      return first;
    case tie_method::max:
      return cols - last;
    case tie_method::dense:
      return distinct;
    case tie_method::ordinal:
      break;
  }
  return at;
}

}  // namespace gpu::kernels
