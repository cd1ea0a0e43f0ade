#include "cpu/tanimoto/screen.hpp"

namespace gpu::cpu {

std::uint64_t screen_baseline(const std::int32_t* unions, const std::int32_t* ones,
                              std::int32_t own, float t, float least) {
  std::uint64_t found = 0;
  constexpr int at_once = 16;
  for (int first = 0; first < screen_cols; first += at_once) {
    unsigned passes[at_once];
    unsigned any = 0;
    for (int j = 0; j < at_once; ++j) {
      const std::int32_t other = ones[first + j];
      const std::int32_t common = own - unions[first + j] + other;
      passes[j] = static_cast<float>(common) - t * static_cast<float>(other) >= least ? 1U : 0U;
      any |= passes[j];
    }
    if (any == 0) continue;
    for (int j = 0; j < at_once; ++j) found |= std::uint64_t{passes[j]} << (first + j);
  }
  return found;
}

}  // namespace gpu::cpu
