#pragma once
// Tables of loops that are compiled once per instruction set, for baseline, avx2 and avx512.

#include "cpu/platform/instruction_set.hpp"

/// The table `name` of the best of these namespaces that this machine can run.
#if defined(__x86_64__)
#define GPU_SIMILARITY_USABLE(name)                                   \
  (usable_instruction_set() >= instruction_set::avx512 ? avx512::name \
   : usable_instruction_set() >= instruction_set::avx2 ? avx2::name   \
                                                       : baseline::name)
#else
#define GPU_SIMILARITY_USABLE(name) baseline::name
#endif
