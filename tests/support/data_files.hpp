#pragma once
// Real data with known answers. Part of it is in the project; the rest is read in place where it is
// there.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace gpu_test {

/// The file `name` in the folder that GPU_SIMILARITY_TEST_DATA names, in examples/data, or in
/// ../shared/data beside the source tree; nothing where none of them has it.
inline std::optional<std::filesystem::path> find_data_file(const std::string& name) {
  const char* folder = std::getenv("GPU_SIMILARITY_TEST_DATA");
  const std::filesystem::path source = GPU_SIMILARITY_SOURCE_DIR;
  for (const std::filesystem::path& candidate :
       {std::filesystem::path(folder == nullptr ? "" : folder) / name,
        source / "examples" / "data" / name, source / ".." / "shared" / "data" / name}) {
    if (std::filesystem::exists(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace gpu_test
