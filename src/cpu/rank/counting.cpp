#include "cpu/rank/counting.hpp"

#include "cpu/platform/instruction_set.hpp"

namespace gpu::cpu {

const counting_kernels& usable_counting_kernels() {
#if defined(__x86_64__)
  switch (usable_instruction_set()) {
    case instruction_set::amx:
    case instruction_set::avx512_vnni:
    case instruction_set::avx512:
      return avx512::kernels;
    case instruction_set::avx2:
      return avx2::kernels;
    case instruction_set::baseline:
      break;
  }
#endif
  return baseline::kernels;
}

}  // namespace gpu::cpu
