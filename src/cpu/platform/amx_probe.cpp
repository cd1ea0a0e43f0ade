#include "cpu/platform/amx_probe.hpp"

#if defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "cpu/platform/amx_tiles.hpp"
#endif

namespace gpu::cpu {

#if defined(__linux__)
namespace {

constexpr long ask_for_state = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long tile_data_state = 18;    // XFEATURE_XTILEDATA
constexpr std::uint32_t tile_states = 3u << 17;

bool processor_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(1, 0, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned tiles = 1u << 24, tiles_of_int8 = 1u << 25;
  return (d & tiles) != 0 && (d & tiles_of_int8) != 0;
}

bool system_keeps_tiles() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & tile_states) == tile_states;
}

// A virtual machine may announce AMX and not have it, so a product is tried: 2 rows by 16 columns,
// four products each.
bool product_is_right() {
  alignas(64) std::int8_t rows[2][4] = {{1, -2, 3, 4}, {-5, 6, 7, -8}};
  alignas(64) std::int8_t columns[1][64];
  alignas(64) std::int32_t sums[2][16] = {};
  for (int i = 0; i < 64; ++i) columns[0][i] = static_cast<std::int8_t>(i - 32);
  amx_shapes shapes;
  shapes.set(0, 2, 64);
  shapes.set(4, 2, 4);
  shapes.set(6, 1, 64);
  shapes.load();
  _tile_zero(0);
  _tile_loadd(4, rows, 4);
  _tile_loadd(6, columns, 64);
  _tile_dpbssd(0, 4, 6);
  _tile_stored(0, sums, 64);
  _tile_release();
  bool right = true;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 16; ++j) {
      int wanted = 0;
      for (int k = 0; k < 4; ++k) wanted += rows[i][k] * columns[0][j * 4 + k];
      right = right && sums[i][j] == wanted;
    }
  }
  return right;
}

bool try_amx() {
  return processor_has_amx() && system_keeps_tiles() &&
         syscall(SYS_arch_prctl, ask_for_state, tile_data_state) == 0 && product_is_right();
}

}  // namespace

bool amx_works() {
  static const bool works = try_amx();
  return works;
}

#else

// Other systems hand out tiles in other ways.
bool amx_works() {
  return false;
}

#endif

}  // namespace gpu::cpu
