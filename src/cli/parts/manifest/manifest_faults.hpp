#pragma once
// Whether the numbers of a manifest can be those of a part at all.

#include <string>

#include "cli/parts/manifest/manifest.hpp"

namespace gpu::cli {

/// What the manifest says that no part says, in words: a file that is none of its place, more
/// constant rows than rows, another number of tests than its rows have. "" where nothing is wrong.
[[nodiscard]] std::string fault_of(const part_manifest& manifest);

}  // namespace gpu::cli
