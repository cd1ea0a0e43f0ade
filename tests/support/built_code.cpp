#include "support/built_code.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#ifndef GPU_SIMILARITY_ARCHITECTURES
#define GPU_SIMILARITY_ARCHITECTURES ""
#endif

namespace gpu_test {
namespace {

bool forces_ptx() {
  const char* const value = std::getenv("CUDA_FORCE_PTX_JIT");
  return value != nullptr && std::string_view(value) == "1";
}

// Takes what one entry of the list ("80", "80-real", "90a-virtual") gives for `device`.
void take(const std::string& entry, bool machine, int device, built_code& best) {
  if (machine && entry.ends_with("-virtual")) return;
  if (!machine && entry.ends_with("-real")) return;
  const int capability = std::atoi(entry.c_str());
  const std::size_t digits = std::to_string(capability).size();
  const char suffix = digits < entry.size() ? entry[digits] : ' ';
  if (capability > device || capability < best.capability) return;
  if (suffix == 'a' && capability != device) return;
  if ((machine || suffix == 'f') && capability / 10 != device / 10) return;
  const bool is_of_hopper = suffix == 'a' && capability == 90;
  best = {capability, is_of_hopper || (best.has_warpgroups && capability == best.capability)};
}

built_code newest_of(bool machine, int device) {
  built_code best;
  std::istringstream list(GPU_SIMILARITY_ARCHITECTURES);
  for (std::string entry; std::getline(list, entry, ',');) take(entry, machine, device, best);
  return best;
}

}  // namespace

built_code newest_code_for(int device) {
  const built_code machine = newest_of(true, device);
  return machine.capability > 0 && !forces_ptx() ? machine : newest_of(false, device);
}

}  // namespace gpu_test
