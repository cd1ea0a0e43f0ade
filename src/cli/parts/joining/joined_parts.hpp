#pragma once
// All parts of a job as the result of a single run: checked, then joined to its bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/parts/folder/part_folder.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {

/// The parts of a job that is whole.
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
