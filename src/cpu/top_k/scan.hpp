#pragma once
// The inner loop of top_k on the CPU: finds the few elements that beat a bound. One copy per
// instruction set, chosen at run time.

#include <cstddef>
#include <cstdint>

namespace gpu::cpu {

/// Which elements pass. NaN never does.
enum class scan_test { greater, greater_equal, less, less_equal, any };

/// Where a scan stopped and what it found.
struct scan_result {
  std::size_t next = 0;  ///< First element not looked at.
  std::size_t hits = 0;  ///< Positions written.
};

/// Smallest room for hits that a scan makes progress with.
inline constexpr std::size_t scan_least_room = 1024;

/// Writes the ascending positions in [begin, end) of the elements of `data` that pass `test`
/// against `bound` to `hits`; stops early where fewer than scan_least_room places are left.
template <class T>
using scan_function = scan_result (*)(scan_test test, const T* data, std::size_t begin,
                                      std::size_t end, T bound, std::uint64_t* hits,
                                      std::size_t room);

/// The scans of one instruction set.
struct scan_table {
  scan_function<std::int8_t> int8;
  scan_function<std::int16_t> int16;
  scan_function<std::int32_t> int32;
  scan_function<std::uint8_t> uint8;
  scan_function<std::uint16_t> uint16;
  scan_function<float> float32;
  scan_function<double> float64;
};

namespace baseline {
extern const scan_table top_k_scans;
}
namespace avx2 {
extern const scan_table top_k_scans;
}
namespace avx512 {
extern const scan_table top_k_scans;
}

/// The table of the best instruction set that this machine can run.
const scan_table& usable_scan_table();

inline auto scan_of(const scan_table& table, std::int8_t) {
  return table.int8;
}
inline auto scan_of(const scan_table& table, std::int16_t) {
  return table.int16;
}
inline auto scan_of(const scan_table& table, std::int32_t) {
  return table.int32;
}
inline auto scan_of(const scan_table& table, std::uint8_t) {
  return table.uint8;
}
inline auto scan_of(const scan_table& table, std::uint16_t) {
  return table.uint16;
}
inline auto scan_of(const scan_table& table, float) {
  return table.float32;
}
inline auto scan_of(const scan_table& table, double) {
  return table.float64;
}

}  // namespace gpu::cpu
