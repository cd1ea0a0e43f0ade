// Entry point of the tests that need no GPU. GPU_SIMILARITY_CPU_LEVEL may name an instruction set
// that this processor lacks, where the library would take a lesser one, or the best that it has,
// which the library takes unasked: the test would repeat another and is skipped, visibly, by exit
// code 77. At a named level cases of the naive variant are left out: its loops are plain C++ at
// every level, and what prepares its rows prepares those of the others.
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "support/catch_runner.hpp"

namespace {

constexpr int exit_skipped = 77;

// Asked of the processor, not of the library.
bool processor_has(std::string_view level) {
  if (level.empty() || level == "baseline") return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0;
  if (level == "avx2") return avx2;
  const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (level == "avx512") return avx512;
  if (level == "avx512_vnni") return avx512 && __builtin_cpu_supports("avx512vnni") != 0;
#endif
  return false;
}

// As the kernel names what the processor has and the system lets programs use.
bool has_amx() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line.find(" amx_int8") != std::string::npos;
  }
  return false;
}

bool is_best_of_processor(std::string_view level) {
  if (level == "baseline") return !processor_has("avx2");
  if (level == "avx2") return !processor_has("avx512");
  if (level == "avx512") return !processor_has("avx512_vnni");
  return level == "avx512_vnni" && !has_amx();
}

}  // namespace

int main(int argc, char** argv) {
  const char* level = std::getenv("GPU_SIMILARITY_CPU_LEVEL");
  if (level != nullptr && !processor_has(level)) {
    std::cout << "skipped: this processor lacks the instruction set " << level << '\n';
    return exit_skipped;
  }
  // By hand, with arguments, a test runs whatever the level.
  if (level != nullptr && argc == 1 && is_best_of_processor(level)) {
    std::cout << "skipped: " << level << " is what this processor takes without the variable\n";
    return exit_skipped;
  }
  if (level != nullptr && argc == 1) {
    char others[] = "~[naive]";
    std::array<char*, 2> words{argv[0], others};
    return gpu_test::run_all_cases(2, words.data());
  }
  return gpu_test::run_all_cases(argc, argv);
}
