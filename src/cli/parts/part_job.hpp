#pragma once
// Computes parts of one job from a table in memory, into a folder.

#include <string>

#include "cli/parts/folder/discovery_steps.hpp"
#include "cli/parts/folder/part_folder.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::cli {

struct part_job_context {
  const pairs_command& job;
  const input_tables& tables;
  const job_key& key;
  const part_folder& folder;
  progress_line& line;
  io::byte_budget& budget;  ///< Bytes of --max-output that are left.
};

class part_job {
 public:
  /// Everything that `context` refers to outlives it.
  explicit part_job(const part_job_context& context);

  /// Computes that part of `step` and commits it, its manifest last. Two processes may compute one
  /// part: each writes files of its own, and the one that finds the part already there drops them.
  /// @throw interrupted_run, io::output_error, and what the library throws; nothing is left then.
  part_manifest run(const job_step& step, index_t number, index_t of);

 private:
  struct computed;
  part_manifest compute(const job_step& step, const part_place& place, computed& out);
  void compute_edges(const part_place& place, computed& out);
  /// Of differential correlation, whatever is kept.
  void compute_differences(const part_place& place, computed& out);
  void compute_neighbors(const part_place& place, computed& out);
  /// The p of the tests of the part within the cut: from all of them merge has the q of partners.
  void compute_tests(const part_place& place, computed& out);
  void compute_dense(const part_place& place, computed& out);
  void compute_degrees(const part_place& place, computed& out);
  void compute_bins(const job_step& step, const part_place& place, computed& out);
  void add_header(const part_place& place, computed& out);
  /// Where p of the rows goes, if merge needs it; else null.
  io::output_file* row_p_file(const part_place& place, computed& out);
  io::output_file& add_file(computed& out, const std::string& role, const std::string& name);
  part_manifest commit(const part_place& place, part_manifest manifest, computed& out);

  part_job_context context_;
  io::result_context rows_;
  pair_options options_;
  pair_filter filter_;
};

}  // namespace gpu::cli
