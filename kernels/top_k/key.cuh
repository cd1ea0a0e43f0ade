#pragma once
// Elements as unsigned integers whose order is the order of top_k.
//
// A *key* is larger for a better value; NaN has key 0, below every number. A *composite* is the key
// followed by the complement of the position, so all composites of a row differ, equal values order
// by lowest position, and every selection is one on distinct integers: ties need no special case.
// Composite 0 belongs to no element.

#include <cstdint>
#include <type_traits>

#include <gpu/index.hpp>

namespace gpu::kernels::select {

using std::int32_t;
using std::uint32_t;
using std::uint64_t;
__extension__ using uint128_t = unsigned __int128;

/// Keys of 8- to 32-bit elements live in 32 bits.
template <class T>
using key_t = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline constexpr int key_bits = static_cast<int>(8 * sizeof(T));

/// XORed into a key: turns the order round where the smallest values are asked for.
template <class T>
__host__ __device__ constexpr key_t<T> flip_of(bool largest) {
  constexpr auto all = static_cast<key_t<T>>(~key_t<T>{0}) >> (8 * sizeof(key_t<T>) - key_bits<T>);
  return largest ? key_t<T>{0} : all;
}

template <class T>
__device__ inline key_t<T> make_key(T value, key_t<T> flip) {
  if constexpr (std::is_same_v<T, float>) {
    const uint32_t bits = __float_as_uint(value + 0.0f);  // -0.0 becomes 0.0
    const uint32_t key =
        bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u) ^ flip;
    return value != value ? 0 : key;
  } else if constexpr (std::is_same_v<T, double>) {
    const auto bits = static_cast<uint64_t>(__double_as_longlong(value + 0.0));
    const uint64_t key =
        bits ^
        (static_cast<uint64_t>(static_cast<std::int64_t>(bits) >> 63) | 0x8000000000000000u) ^ flip;
    return value != value ? 0 : key;
  } else {
    constexpr uint32_t top = std::is_signed_v<T> ? 1u << (key_bits<T> - 1) : 0u;
    using narrow = std::make_unsigned_t<T>;
    return (static_cast<uint32_t>(static_cast<narrow>(value)) ^ top) ^ flip;
  }
}

/// What inner loops compare in place of keys, larger for better: floating-point values in their own
/// order, with the sign turned where the smallest are asked for, so that a maximum takes one
/// instruction; for other types the key.
template <class T>
using rival_t = std::conditional_t<std::is_floating_point_v<T>, T, key_t<T>>;

template <class T>
__device__ inline rival_t<T> make_rival(T value, key_t<T> flip) {
  if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(__float_as_uint(value) ^ (flip & 0x80000000u));
  } else if constexpr (std::is_same_v<T, double>) {
    return __longlong_as_double(__double_as_longlong(value) ^
                                static_cast<long long>(flip & 0x8000000000000000u));
  } else {
    return make_key(value, flip);
  }
}

/// The better of two rivals; a number beats NaN.
template <class Rival>
__device__ inline Rival better(Rival a, Rival b) {
  if constexpr (std::is_same_v<Rival, float>) {
    return fmaxf(a, b);
  } else if constexpr (std::is_same_v<Rival, double>) {
    return fmax(a, b);
  } else {
    return a > b ? a : b;
  }
}

/// The key of an element from its rival. The sign is turned back first: the key of -0.0 is that of
/// 0.0, so where the smallest are asked for, a zero's rival would have another key than the zero.
template <class T>
__device__ inline key_t<T> key_of_rival(rival_t<T> rival, key_t<T> flip) {
  if constexpr (std::is_floating_point_v<T>) {
    return make_key<T>(make_rival<T>(rival, flip), flip);
  } else {
    return rival;
  }
}

/// A test of rivals that passes exactly where the key is at least `least`.
template <class T>
class rival_test {
 public:
  __device__ explicit rival_test(key_t<T> least) : bound_(), all_(least == 0) {
    if constexpr (std::is_same_v<T, float>) {
      constexpr uint32_t lowest = 0x007fffffu;  // the key of -Inf
      const uint32_t key = least < lowest ? lowest : least;
      bound_ = __uint_as_float((key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key);
    } else if constexpr (std::is_same_v<T, double>) {
      constexpr uint64_t lowest = 0x000fffffffffffffu;
      const uint64_t key = least < lowest ? lowest : least;
      constexpr uint64_t top = 0x8000000000000000u;
      bound_ = __longlong_as_double(static_cast<long long>((key & top) != 0 ? key ^ top : ~key));
    } else {
      bound_ = least;
    }
  }
  /// Beyond +Inf the bound is NaN, which nothing reaches.
  __device__ bool operator()(rival_t<T> rival) const { return all_ || rival >= bound_; }

 private:
  rival_t<T> bound_;
  bool all_;
};

/// Bits of a composite that hold the position: all that the key leaves.
template <class T, class Composite>
inline constexpr int position_bits =
    sizeof(Composite) == 16 ? 64 : static_cast<int>(64 - key_bits<T>);

/// The complement is taken within these bits; the top one of 64 stays clear, so that every
/// composite, also 0, has a position that is not negative.
template <class T, class Composite>
inline constexpr uint64_t position_mask = sizeof(Composite) == 16
                                              ? ~uint64_t{0} >> 1
                                              : ~uint64_t{0} >> (64 - position_bits<T, Composite>);

template <class T, class Composite>
__device__ inline Composite compose(key_t<T> key, index_t position) {
  return (static_cast<Composite>(key) << position_bits<T, Composite>) |
         (position_mask<T, Composite> - static_cast<uint64_t>(position));
}
template <class T, class Composite>
__device__ inline index_t position_of(Composite composite) {
  return static_cast<index_t>(position_mask<T, Composite> -
                              (static_cast<uint64_t>(composite) & position_mask<T, Composite>));
}
template <class T, class Composite>
__device__ inline key_t<T> key_of(Composite composite) {
  return static_cast<key_t<T>>(composite >> position_bits<T, Composite>);
}

/// Counts of elements: 32 bits where a row cannot have more.
template <class T, class Composite>
using count_t =
    std::conditional_t<sizeof(T) == 4 && sizeof(Composite) == 8, unsigned, unsigned long long>;

/// The rows of a call, as kernels take them.
template <class T>
struct top_k_source {
  const T* data;
  index_t cols;
  index_t stride;
  key_t<T> flip;
  __device__ const T* row(index_t i) const { return data + i * stride; }
};

/// Where a kernel leaves the entries of each row.
template <class T>
struct row_sink {
  T* values;
  index_t values_stride;
  index_t* indices;
  index_t indices_stride;
  /// Entry `rank` of row `i` is the element at `position` of `row`.
  __device__ void put(index_t i, index_t rank, const T* row, index_t position) const {
    values[i * values_stride + rank] = row[position];
    indices[i * indices_stride + rank] = position;
  }
  /// What stands behind the entries of a row with fewer distinct values than asked for.
  __device__ void put_nothing(index_t i, index_t rank) const {
    values[i * values_stride + rank] = T{};
    indices[i * indices_stride + rank] = -1;
  }
};

}  // namespace gpu::kernels::select
