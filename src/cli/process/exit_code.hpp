#pragma once
// What the command tells its caller.

#include <stdexcept>
#include <string>

namespace gpu::cli {

/// A run that a signal ended exits with 128 + its number, see interrupt_exit_code().
enum exit_code : int {
  exit_ok = 0,
  exit_internal = 1,
  exit_parts_missing = 1,  ///< Of parts --check.
  exit_usage = 2,          ///< The command line is wrong.
  exit_bad_input = 3,      ///< The input is not a table for the job.
  exit_resources = 4,      ///< Memory, threads, device, disk, or a result larger than allowed.
  exit_closed_pipe = 141   ///< Nobody reads the result any more: 128 + SIGPIPE, as other tools.
};

/// What ends the command with a code and a message.
class run_error : public std::runtime_error {
 public:
  run_error(exit_code code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

/// A wrong command line that only shows behind the parser.
struct usage_error : run_error {
  explicit usage_error(const std::string& what) : run_error(exit_usage, what) {}
};

/// Options that the library refuses; the message is in its words.
struct refused_options : usage_error {
  using usage_error::usage_error;
};

/// A result that is larger than --max-output allows, or whose report cannot be written.
struct resource_error : run_error {
  explicit resource_error(const std::string& what) : run_error(exit_resources, what) {}
};

/// A folder of parts that is not what the command needs: parts are missing, damaged, or of another
/// job. The message names the folder and the part.
struct parts_error : run_error {
  explicit parts_error(const std::string& what) : run_error(exit_bad_input, what) {}
};

/// A run that was interrupted; the message says what there is of its result.
class interrupted_run : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpu::cli
