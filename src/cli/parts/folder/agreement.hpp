#pragma once
// Whether two parts of one job were decided alike, so that they can be joined.

#include <string>

#include "cli/parts/manifest/manifest.hpp"

namespace gpu::cli {

/// Where `part` says something else of the table, of the family of tests or of the cut than `first`
/// does, in words; "" where both agree. Both are of one job.
[[nodiscard]] std::string disagreement(const part_manifest& part, const part_manifest& first);

}  // namespace gpu::cli
