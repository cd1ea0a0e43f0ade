#pragma once
// Whether two parts of one job were decided alike, so that they can be joined.

#include <string>

#include "cli/parts/manifest/manifest.hpp"

namespace gpu::cli {

/// Where `part` says something else of the table, of the family of tests, of the cut or, of folded
/// edges, of the patterns than `first` does, in words; "" where both agree. Both are of one job.
[[nodiscard]] std::string disagreement(const part_manifest& part, const part_manifest& first);

}  // namespace gpu::cli
