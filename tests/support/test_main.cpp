// Entry point of the tests that need no GPU. Where GPU_SIMILARITY_CPU_LEVEL names an instruction
// set that this processor lacks, the library would take a lesser one and the test would repeat
// another: it is skipped, visibly, by exit code 77.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "support/catch_runner.hpp"

namespace {

constexpr int exit_skipped = 77;

// Asked of the processor, not of the library.
bool processor_has(std::string_view level) {
  if (level.empty() || level == "baseline") return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (level == "avx2") return avx2;
  const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (level == "avx512") return avx512;
#endif
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const char* level = std::getenv("GPU_SIMILARITY_CPU_LEVEL");
  if (level != nullptr && !processor_has(level)) {
    std::cout << "skipped: this processor lacks the instruction set " << level << '\n';
    return exit_skipped;
  }
  return gpu_test::run_all_cases(argc, argv);
}
