#pragma once
// One line on a terminal's standard error that says how far the work is.

#include <chrono>
#include <string>
#include <string_view>

#include <gpu/execution.hpp>

namespace gpu::cli {

/// Rewrites its line a few times a second; writes nothing where standard error is no terminal, or
/// the user wants quiet.
class progress_line {
 public:
  explicit progress_line(bool quiet);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(std::string_view text);
  /// Share, rate and time left; where the total is 0, which is not known, the rate alone.
  void show(const progress& state, std::string_view unit = "pairs");
  /// Removes the line, before anything else is written.
  void clear();

 private:
  using clock = std::chrono::steady_clock;
  bool is_shown_;
  bool has_text_ = false;
  std::string stage_;
  clock::time_point stage_start_;
  clock::time_point last_;
};

/// A callback of calls of the library: shows their progress on `line`, unless it is null, and
/// cancels them where a signal came.
[[nodiscard]] progress_callback shown_on(progress_line* line, const char* unit = "pairs");

}  // namespace gpu::cli
