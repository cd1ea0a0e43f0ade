#include "base/call_progress.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

constexpr auto report_interval = std::chrono::milliseconds(250);

}  // namespace

call_progress::call_progress(const progress_callback& callback, std::string_view operation,
                             std::string_view stage, std::uint64_t total)
    : callback_(callback),
      operation_(operation),
      state_{.stage = stage, .done = 0, .total = total},
      next_(std::chrono::steady_clock::now()) {
  report(false);
}

void call_progress::advance(std::uint64_t done) {
  state_.done += done;
  if (state_.done < state_.total) report(false);
}

void call_progress::finish() {
  state_.done = state_.total;
  report(true);
}

void call_progress::report(bool always) {
  if (!callback_) return;
  const auto now = std::chrono::steady_clock::now();
  if (!always && now < next_) return;
  next_ = now + report_interval;
  // The callback may call the library: those calls are not part of the one that it reports on.
  const poll_scope none(nullptr);
  if (callback_(state_) == progress_reply::cancel) {
    throw cancelled(fmt::format("{}: cancelled by the progress callback, {} of {} done in {}",
                                operation_, state_.done, state_.total, state_.stage));
  }
}

}  // namespace gpu::inline v0::detail
