#pragma once
// What the command tells its caller.

#include <stdexcept>
#include <string>

namespace gpu::cli {

enum exit_code : int {
  exit_ok = 0,
  exit_internal = 1,
  exit_usage = 2,         ///< The command line is wrong.
  exit_bad_input = 3,     ///< The input is no table that the job can take.
  exit_resources = 4,     ///< Memory, device, disk, or a result larger than allowed.
  exit_interrupted = 130  ///< SIGINT or SIGTERM; what was written so far is partial.
};

/// A wrong command line that only shows behind the parser.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A result that is larger than --max-output allows.
class too_large : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that was interrupted; the message says what there is of its result.
class interrupted_run : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpu::cli
