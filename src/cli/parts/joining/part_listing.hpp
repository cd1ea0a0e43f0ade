#pragma once
// Which parts of a job there are, and which are still to be run.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/parts/folder/part_folder.hpp"

namespace gpu::cli {

/// Throws a parts_error that begins with the name of the folder.
[[noreturn]] void refuse_parts(const part_folder& folder, const std::string& what);

/// Which parts there are.
struct part_listing {
  int step = 0;  ///< The step that the job is at, as in part_place.
  index_t of = 0;
  std::map<index_t, part_status> parts;  ///< Those that have a manifest, by number from 1.
  std::size_t unfinished = 0;            ///< Files that a process still writes, or was killed over.
  std::optional<job_key> job = {};
  /// Of a part without a manifest: missing.
  [[nodiscard]] const part_status& status(index_t number) const;
  /// How many parts are done.
  [[nodiscard]] index_t done() const;
  /// Ranges of numbers from 1, first and last, of the parts that are to be run, ascending.
  using range = std::pair<index_t, index_t>;
  [[nodiscard]] std::vector<range> wanting() const;
};

/// Looks at every part of the step that the folder is at.
/// @throw parts_error where there is no manifest at all, or they are of more than one job.
[[nodiscard]] part_listing list_parts(const part_folder& folder, part_check how);

/// The numbers as Slurm's --array takes them: "3,7-9"; "" of none.
[[nodiscard]] std::string compact_list(const std::vector<part_listing::range>& numbers);

}  // namespace gpu::cli
