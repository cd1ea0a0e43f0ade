#include "cpu/top_k/scan.hpp"

#include "cpu/platform/instruction_set.hpp"

namespace gpu::cpu {

const scan_table& usable_scan_table() {
#if defined(__x86_64__)
  switch (usable_instruction_set()) {
    case instruction_set::amx:
    case instruction_set::avx512_vnni:
    case instruction_set::avx512:
      return avx512::top_k_scans;
    case instruction_set::avx2:
      return avx2::top_k_scans;
    case instruction_set::baseline:
      break;
  }
#endif
  return baseline::top_k_scans;
}

}  // namespace gpu::cpu
