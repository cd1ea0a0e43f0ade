#include "cpu/pairs/loops/kernels.hpp"

#include "cpu/platform/instruction_set.hpp"

namespace gpu::cpu {

const pair_kernels& usable_pair_kernels() {
#if defined(__x86_64__)
  switch (usable_instruction_set()) {
    case instruction_set::amx:
      return amx_pair_kernels;
    case instruction_set::avx512_vnni:
      return avx512_vnni_pair_kernels;
    case instruction_set::avx512:
      return avx512_pair_kernels;
    case instruction_set::avx2:
      return avx2_pair_kernels;
    case instruction_set::baseline:
      break;
  }
#endif
  return baseline_pair_kernels;
}

}  // namespace gpu::cpu
