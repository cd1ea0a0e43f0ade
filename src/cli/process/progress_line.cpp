#include "cli/process/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"

namespace gpu::cli {
namespace {

std::string duration_text(double seconds) {
  if (!(seconds < 1e8)) return "?";
  const auto whole = static_cast<long>(std::ceil(seconds));
  constexpr long minute = 60;
  constexpr long hour = 3600;
  if (whole >= hour) {
    return fmt::format("{}:{:02}:{:02}", whole / hour, whole % hour / minute, whole % minute);
  }
  return fmt::format("{}:{:02}", whole / minute, whole % minute);
}

}  // namespace

progress_line::progress_line(bool quiet) : is_shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  clear();
}

void progress_line::show(std::string_view text) {
  if (!is_shown_) return;
  show_on_line(text);
  has_text_ = true;
}

void progress_line::show(const progress& state, std::string_view unit) {
  if (!is_shown_) return;
  const auto now = clock::now();
  if (state.stage != stage_) {
    stage_ = state.stage;
    stage_start_ = now;
  } else if (now - last_ < std::chrono::milliseconds(200)) {
    return;
  }
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - stage_start_).count();
  const auto done = static_cast<double>(state.done);
  const auto total = static_cast<double>(state.total);
  std::string text = stage_;
  if (total > 0) text += fmt::format(" {:5.1f} %", 100 * done / total);
  if (done > 0 && elapsed > 0) {
    text += stage_ == "prepare" ? fmt::format("  {:.3g}/s", done / elapsed)
                                : fmt::format("  {:.3g} {}/s", done / elapsed, unit);
    if (total > 0) {
      text += fmt::format("  {} left", duration_text((total - done) * elapsed / done));
    }
  }
  show(text);
}

void progress_line::clear() {
  if (!has_text_) return;
  show_on_line("");
  has_text_ = false;
}

progress_callback shown_on(progress_line* line, const char* unit) {
  return [line, unit](const progress& state) {
    if (line != nullptr) line->show(state, unit);
    return is_interrupted() ? progress_reply::cancel : progress_reply::proceed;
  };
}

}  // namespace gpu::cli
