#include "cpu/platform/description.hpp"

#include <fmt/format.h>

#include <fstream>

#include "cpu/platform/instruction_set.hpp"

namespace gpu::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

}  // namespace

std::string describe_device(int threads) {
  static const std::string name = processor_name();
  return fmt::format("{} ({}, {} thread{})", name, to_string(usable_instruction_set()), threads,
                     threads == 1 ? "" : "s");
}

}  // namespace gpu::cpu
