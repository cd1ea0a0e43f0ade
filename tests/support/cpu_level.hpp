#pragma once

#include <cstdlib>

namespace gpu_test {

/// Whether this run is one at a lesser or named instruction set (GPU_SIMILARITY_CPU_LEVEL), beside
/// one of the same program without that. What does not depend on the level may be left out then.
inline bool at_named_level() {
  const char* level = std::getenv("GPU_SIMILARITY_CPU_LEVEL");
  return level != nullptr && *level != '\0';
}

}  // namespace gpu_test
