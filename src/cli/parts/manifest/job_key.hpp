#pragma once
// What two parts of one job have in common: the input, the options that the answer depends on, and
// the version that writes it. Backend, devices, threads and variant do not belong to it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/file_digest.hpp"

namespace gpu::cli {

struct job_key {
  std::string version;  ///< Of the library.
  /// As the file lies there, compressed or not, with the files of names behind it that are read
  /// with a sparse one.
  io::file_digest input;
  std::optional<io::file_digest> against = {};  ///< The second table's.
  /// Names as on the command line, without dashes, and values, "" where an option is not given; of
  /// one statistic always the same names in the same order.
  std::vector<std::pair<std::string, std::string>> options = {};

  friend bool operator==(const job_key&, const job_key&) = default;

  /// The value of an option; "" where there is none of that name.
  [[nodiscard]] const std::string& option(const std::string& name) const;
};

/// The key of `job`. Reads the whole input.
/// @throw usage_error where the input is not a regular file; io::input_error
[[nodiscard]] job_key key_of(const pairs_command& job);

/// @throw parts_error where the tables were read from other bytes than those that `key` is of: a
///   file was changed or replaced between the two.
void expect_same_input(const job_key& key, const pairs_command& job, const input_tables& tables);

/// The first difference in words, "--max-p is 0.05, expected 0.01"; "" where there is none.
[[nodiscard]] std::string difference(const job_key& found, const job_key& expected);

/// The options that decide how the result of a job looks; of how its input is read the
/// fingerprints alone. Of differential correlation `groups` is not empty.
/// @throw parts_error where a value is none of the option.
[[nodiscard]] pairs_command job_of(const job_key& key);

}  // namespace gpu::cli
