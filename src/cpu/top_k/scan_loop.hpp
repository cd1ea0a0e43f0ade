// The scan loop, compiled once per instruction set by the files that include it after they named
// the level in GPU_SIMILARITY_LEVEL. Everything but the table is in an anonymous namespace and uses
// no library templates, so that no code built for a newer instruction set can be picked by the
// linker for an older machine.
//
// A block of elements is tested as a whole first: the compiler turns that loop into vector
// compares, and nearly all blocks end there. A block with hits is looked at again in strips.

#include "cpu/top_k/scan.hpp"

namespace gpu::cpu {
namespace {

template <scan_test Test, class T>
inline bool passes(T value, T bound) {
  if constexpr (Test == scan_test::greater) return value > bound;
  if constexpr (Test == scan_test::greater_equal) return value >= bound;
  if constexpr (Test == scan_test::less) return value < bound;
  if constexpr (Test == scan_test::less_equal) return value <= bound;
  if constexpr (Test == scan_test::any) return value == value;
}

// Whether any of `Count` elements passes. The sum has the width of an element, so that one compare
// mask is one addend.
template <scan_test Test, std::size_t Count, class T>
inline bool any_passes(const T* data, T bound) {
  using lane = decltype([] {
    if constexpr (sizeof(T) == 1) return std::uint8_t{};
    if constexpr (sizeof(T) == 2) return std::uint16_t{};
    if constexpr (sizeof(T) == 4) return std::uint32_t{};
    if constexpr (sizeof(T) == 8) return std::uint64_t{};
  }());
  lane any = 0;
  for (std::size_t j = 0; j < Count; ++j) {
    any = static_cast<lane>(any | static_cast<lane>(passes<Test>(data[j], bound) ? 1 : 0));
  }
  return any != 0;
}

template <scan_test Test, class T>
scan_result scan_with(const T* data, std::size_t begin, std::size_t end, T bound,
                      std::uint64_t* hits, std::size_t room) {
  constexpr std::size_t block = 1024 / sizeof(T);
  constexpr std::size_t strip = 64 / sizeof(T);
  static_assert(block <= scan_least_room);
  std::size_t found = 0;
  std::size_t i = begin;
  for (; i + block <= end; i += block) {
    if (!any_passes<Test, block>(data + i, bound)) continue;
    if (room - found < block) return {i, found};
    for (std::size_t s = i; s < i + block; s += strip) {
      if (!any_passes<Test, strip>(data + s, bound)) continue;
      for (std::size_t j = s; j < s + strip; ++j) {
        hits[found] = j;
        found += passes<Test>(data[j], bound) ? std::size_t{1} : std::size_t{0};
      }
    }
  }
  for (; i < end; ++i) {
    if (found == room) return {i, found};
    if (passes<Test>(data[i], bound)) hits[found++] = i;
  }
  return {i, found};
}

template <class T>
scan_result scan(scan_test test, const T* data, std::size_t begin, std::size_t end, T bound,
                 std::uint64_t* hits, std::size_t room) {
  switch (test) {
    case scan_test::greater:
      return scan_with<scan_test::greater>(data, begin, end, bound, hits, room);
    case scan_test::greater_equal:
      return scan_with<scan_test::greater_equal>(data, begin, end, bound, hits, room);
    case scan_test::less:
      return scan_with<scan_test::less>(data, begin, end, bound, hits, room);
    case scan_test::less_equal:
      return scan_with<scan_test::less_equal>(data, begin, end, bound, hits, room);
    case scan_test::any:
      break;
  }
  return scan_with<scan_test::any>(data, begin, end, bound, hits, room);
}

}  // namespace

namespace GPU_SIMILARITY_LEVEL {
const scan_table top_k_scans = {{scan<std::int8_t>},  {scan<std::int16_t>},  {scan<std::int32_t>},
                                {scan<std::uint8_t>}, {scan<std::uint16_t>}, {scan<float>},
                                {scan<double>}};
}  // namespace GPU_SIMILARITY_LEVEL
}  // namespace gpu::cpu
