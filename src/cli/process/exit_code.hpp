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

/// A wrong command line that only shows behind the parser.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Options that the library refuses; the message is in its words.
class refused_options : public usage_error {
 public:
  using usage_error::usage_error;
};

/// A result that is larger than --max-output allows.
class too_large : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The result is complete, its report cannot be written.
class no_report : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A folder of parts that is not what the command needs: parts are missing, damaged, or of another
/// job. The message names the folder and the part.
class parts_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that was interrupted; the message says what there is of its result.
class interrupted_run : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpu::cli
