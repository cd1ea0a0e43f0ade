#pragma once
// Which of the instruction sets that some loops are compiled for this machine can run.

#include <string_view>

namespace gpu::cpu {

/// In ascending order: each includes the ones before it. On other processors than x86-64, only
/// `baseline`.
enum class instruction_set {
  baseline,     ///< What the compiler uses without any flag.
  avx2,         ///< AVX2, FMA, BMI2.
  avx512,       ///< AVX-512 F, BW, DQ, VL.
  avx512_vnni,  ///< The same with VNNI.
  amx           ///< The same with AMX tiles of 8-bit integers.
};

/// The best one that the processor and the operating system can run, or the lower one that the
/// environment variable GPU_SIMILARITY_CPU_LEVEL names: baseline, avx2, avx512, avx512_vnni or amx.
/// Found out once. Throws gpu::invalid_argument if the variable has another value.
instruction_set usable_instruction_set();

/// The name as GPU_SIMILARITY_CPU_LEVEL has it.
std::string_view to_string(instruction_set level) noexcept;

}  // namespace gpu::cpu
