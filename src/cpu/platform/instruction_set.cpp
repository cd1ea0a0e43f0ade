#include "cpu/platform/instruction_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "cpu/platform/amx_probe.hpp"

namespace gpu::cpu {
namespace {

constexpr const char* level_variable = "GPU_SIMILARITY_CPU_LEVEL";

// __builtin_cpu_supports also asks whether the operating system saves the wide registers.
instruction_set best_instruction_set() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  if (!has_avx2) return instruction_set::baseline;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!has_avx512) return instruction_set::avx2;
  if (!__builtin_cpu_supports("avx512vnni")) return instruction_set::avx512;
  return amx_works() ? instruction_set::amx : instruction_set::avx512_vnni;
#else
  return instruction_set::baseline;
#endif
}

instruction_set asked_instruction_set() {
  const char* text = std::getenv(level_variable);
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty()) return instruction_set::amx;
  for (const auto level :
       {instruction_set::baseline, instruction_set::avx2, instruction_set::avx512,
        instruction_set::avx512_vnni, instruction_set::amx}) {
    if (value == to_string(level)) return level;
  }
  throw invalid_argument(fmt::format(
      "{}: got '{}', expected baseline, avx2, avx512, avx512_vnni or amx", level_variable, value));
}

}  // namespace

instruction_set usable_instruction_set() {
  static const instruction_set level = std::min(best_instruction_set(), asked_instruction_set());
  return level;
}

std::string_view to_string(instruction_set level) noexcept {
  return detail::name_in(level, {"baseline", "avx2", "avx512", "avx512_vnni", "amx"});
}

}  // namespace gpu::cpu
