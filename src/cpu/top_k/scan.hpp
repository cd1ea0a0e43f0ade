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
template <class T>
struct scan_entry {
  scan_function<T> scan;
};
struct scan_table : scan_entry<std::int8_t>,
                    scan_entry<std::int16_t>,
                    scan_entry<std::int32_t>,
                    scan_entry<std::uint8_t>,
                    scan_entry<std::uint16_t>,
                    scan_entry<float>,
                    scan_entry<double> {};

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

template <class T>
scan_function<T> scan_of(const scan_table& table) {
  return table.scan_entry<T>::scan;
}

}  // namespace gpu::cpu
