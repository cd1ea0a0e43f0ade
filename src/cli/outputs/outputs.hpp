#pragma once
// The files that a run writes, opened before any work.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {

struct named_target;

/// What a run writes. Bytes of the result and the observations together stay within --max-output.
class run_outputs {
 public:
  /// Follows every path and creates what is to be replaced.
  /// @throw usage_error where two of them, or one and the input, are the same file;
  ///   io::output_error where one cannot be written.
  explicit run_outputs(const job_files& job);
  explicit run_outputs(const pairs_command& job);
  run_outputs(const run_outputs&) = delete;
  run_outputs& operator=(const run_outputs&) = delete;

  [[nodiscard]] io::output_file& result() { return *result_; }
  /// None where the observations of a dense result are not wanted.
  [[nodiscard]] std::optional<io::output_file>& observations() { return observations_; }
  [[nodiscard]] std::optional<io::output_file>& report() { return report_; }
  /// Whether a person sees the result as it is written: progress would be mixed with it.
  [[nodiscard]] bool is_on_terminal() const;

 private:
  run_outputs(const job_files& job, std::vector<named_target> targets);

  io::byte_budget budget_;
  std::optional<io::output_file> result_;
  std::optional<io::output_file> observations_;
  std::optional<io::output_file> report_;
};

/// The same before any work, creating nothing.
/// @throw usage_error, io::output_error
void check_outputs(const pairs_command& job);

/// @throw usage_error where `target` is a file that is there
void refuse_to_replace(const char* option, const io::output_target& target);

/// Writes the report of a run whose result is complete, where one is wanted.
/// @throw interrupted_run or resource_error, which say that the result is complete;
/// io::closed_pipe.
void write_report(std::optional<io::output_file>& report, std::string_view json);

/// The same for a run that was interrupted or failed. Its cause is reported separately, so where
/// the report cannot be written there is a second message.
void write_unfinished_report(std::optional<io::output_file>& report, std::string_view json);

/// "interrupted: nothing is written", or which output is partial.
[[nodiscard]] std::string abandoned_text(const io::output_target& result);

}  // namespace gpu::cli
