#pragma once
// Which parts of a job there are, and all of them as the result of a single run: checked, then
// joined to its bytes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/parts/folder/part_folder.hpp"

namespace gpu::cli {

/// Throws a parts_error that begins with the name of the folder.
[[noreturn]] void refuse_parts(const part_folder& folder, const std::string& what);

struct part_listing {
  int step = 0;  ///< The step that the job is at, as in part_place.
  index_t of = 0;
  std::map<index_t, part_status> parts;  ///< Those that have a manifest, by number from 1.
  std::size_t unfinished = 0;            ///< Files that a process still writes, or was killed over.
  std::optional<job_key> job = {};
  /// Of a part without a manifest: missing.
  [[nodiscard]] const part_status& status(index_t number) const;
  [[nodiscard]] index_t done() const;
  /// Ranges of numbers from 1, first and last, of the parts that are to be run, ascending.
  using range = std::pair<index_t, index_t>;
  [[nodiscard]] std::vector<range> wanting() const;
};

/// Looks at every part of the step that the folder is at.
/// @throw parts_error if the folder has no manifest, or manifests of more than one job.
[[nodiscard]] part_listing list_parts(const part_folder& folder, part_check how);

/// The numbers as Slurm's --array takes them: "3,7-9"; "" of none.
[[nodiscard]] std::string compact_list(const std::vector<part_listing::range>& numbers);

struct joined_parts {
  job_key job;
  pairs_command command;             ///< job_of(job)
  std::vector<part_manifest> parts;  ///< By number, from 1.
  pair_summary summary;              ///< Of the job; of constant and NaN rows only how many.
  std::uint64_t family = 0;
  std::optional<std::uint64_t> edge_sum = {};  ///< Of edges, as reports have it.
  std::uint64_t bytes = 0;                     ///< Of all rows of all parts.
  double seconds = 0;                          ///< Of all parts, one after the other.
};

/// Checks that all parts are there, that they are of one job and one cut, that their rows follow on
/// each other to the end, and that their tested pairs are the family.
/// @throw parts_error that names the first part that does not fit.
[[nodiscard]] joined_parts check_parts(const part_folder& folder);

/// Writes the result of the whole job under the names of `outputs`. Checks every byte of every part
/// against its digest on the way.
/// @throw parts_error that names the part that was changed; io::output_error, io::interrupted
void write_joined(const joined_parts& joined, const part_folder& folder, run_outputs& outputs);

/// What a report says of a job in parts.
[[nodiscard]] run_report report_of(const joined_parts& joined);

/// The same for a process that has computed the parts and joined them.
[[nodiscard]] run_report report_of_run(const joined_parts& joined, const pairs_command& job,
                                       double total_seconds);

/// "checksum 123:0f...:3a..., 7 parts", behind what a run says.
[[nodiscard]] std::string to_text(const joined_parts& joined);

}  // namespace gpu::cli
