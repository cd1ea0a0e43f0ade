#pragma once
// Which of the instruction sets that some loops are compiled for this machine can run.

#include <string_view>

namespace gpu::cpu {

/// In ascending order: each includes the ones before it. On other processors than x86-64, only
/// `baseline`.
enum class instruction_set {
  baseline,  ///< What the compiler takes without any flag.
  avx2,      ///< AVX2, FMA, BMI2.
  avx512,    ///< AVX-512 F, BW, DQ, VL.
  amx        ///< AVX-512 with VNNI, and AMX tiles of 8-bit integers.
};

/// The best one that the processor and the operating system can run, or the lower one that the
/// environment variable GPU_SIMILARITY_CPU_LEVEL (baseline, avx2, avx512, amx) names. Found out
/// once. Throws gpu::invalid_argument where the variable has another value.
instruction_set usable_instruction_set();

/// "baseline", "avx2", "avx512" or "amx".
std::string_view to_string(instruction_set level) noexcept;

}  // namespace gpu::cpu
