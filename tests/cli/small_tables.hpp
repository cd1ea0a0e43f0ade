#pragma once
// Tables of small numbers for tests of the command, and what it writes of them.

#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// 60 rows of 12 without names.
inline std::string numbers() {
  std::string text;
  unsigned state = 3;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 12; ++j) {
      state = state * 1664525U + 1013904223U;
      text += std::to_string((state >> 16) % 50 + static_cast<unsigned>(i % 3 * j * 20)) + " ";
    }
    text += '\n';
  }
  return text;
}

/// Rows of 12 that all move together: every pair is an edge.
inline std::string moving_rows(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 12; ++j) text += std::to_string(j * 7 + i % 5 + (i * j) % 3) + " ";
    text += "\n";
  }
  return text;
}

inline void check_refused(const command_result& got, int exit_code, const std::string& part) {
  INFO(got.err);
  CHECK(got.exit_code == exit_code);
  CHECK(has(got.err, part));
}

struct files {
  temporary_folder folder;
  std::string input;
  explicit files(const std::string& text) : input(folder.write("in.txt", text)) {}
  /// Runs a job that has to succeed, and gives what it wrote.
  std::string run(words line, const std::string& output) const {
    line.insert(line.begin() + 1, input);
    line.insert(line.end(), {"-q", "-o", folder.path(output)});
    const auto result = run_command(line);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_file(folder.path(output));
  }
};

}  // namespace gpu_test
