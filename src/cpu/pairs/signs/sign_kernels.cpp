#include "cpu/pairs/signs/sign_kernels.hpp"

#include "cpu/platform/instruction_set.hpp"

namespace gpu::cpu {
namespace {

const sign_kernels& choose() {
#if defined(__x86_64__)
  const instruction_set level = usable_instruction_set();
  if (level >= instruction_set::avx512 && __builtin_cpu_supports("avx512vpopcntdq")) {
    return avx512_sign_kernels;
  }
  if (level >= instruction_set::avx2 && __builtin_cpu_supports("popcnt")) return avx2_sign_kernels;
#endif
  return baseline_sign_kernels;
}

}  // namespace

const sign_kernels& usable_sign_kernels() {
  static const sign_kernels& chosen = choose();
  return chosen;
}

}  // namespace gpu::cpu
