#pragma once
// Benjamini and Hochberg's cut of a job in parts: counting passes come before the result. Which
// step a job is at follows from its folder alone, so all processes agree on it.

#include <optional>

#include <gpu/discovery.hpp>

#include "cli/parts/folder/part_folder.hpp"

namespace gpu::cli {

struct job_step {
  int step = 0;  ///< 0: the result; from 1: that counting pass.
  /// Of a counting pass after the first, what to count for; of a result with --adjust bh, the
  /// decided search.
  std::optional<discovery_search> search = {};
};

/// The step that `key`'s job of `of` parts is at. A counting pass whose parts are all there is
/// summed up, and the sum is kept in the folder.
/// @throw parts_error, io::output_error
[[nodiscard]] job_step step_of(const part_folder& folder, const job_key& key, index_t of);

/// The bytes of the file of a counting pass, and what they mean.
[[nodiscard]] std::string bins_text(const discovery_counts& counts);
[[nodiscard]] bool read_bins(std::string_view text, discovery_counts& counts);

}  // namespace gpu::cli
