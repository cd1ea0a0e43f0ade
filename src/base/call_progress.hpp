#pragma once
// Progress reports of a running call, and how its callback ends it.

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include <gpu/execution.hpp>
#include <gpu/index.hpp>

#include "base/poll_progress.hpp"

namespace gpu::inline v0::detail {

/// Calls the callback at most four times a second; throws gpu::cancelled where it asks for that.
class call_progress : public pollable {
 public:
  /// `operation` begins the message of gpu::cancelled. Callback and texts outlive this.
  call_progress(const progress_callback& callback, std::string_view operation,
                std::string_view stage, std::uint64_t total);
  void advance(std::uint64_t done);
  void finish();
  /// Reports what is done so far once more, where it is time.
  void poll() final { report(false); }

 private:
  void report(bool always);
  const progress_callback& callback_;
  std::string_view operation_;
  progress state_;
  std::chrono::steady_clock::time_point next_;
};

/// While this lives, poll_progress() on the thread that made it polls `progress`.
class poll_scope {
 public:
  explicit poll_scope(pollable* progress) noexcept
      : outer_(std::exchange(polled_on_this_thread, progress)) {}
  ~poll_scope() { polled_on_this_thread = outer_; }
  poll_scope(const poll_scope&) = delete;
  poll_scope& operator=(const poll_scope&) = delete;

 private:
  pollable* outer_;
};

/// The progress of a call that its loops poll: `done` stays 0.
class polled_call {
 public:
  polled_call(const progress_callback& callback, std::string_view operation, index_t rows)
      : progress_(callback, operation, operation, static_cast<std::uint64_t>(rows)),
        scope_(&progress_) {}

 private:
  call_progress progress_;
  poll_scope scope_;
};

}  // namespace gpu::inline v0::detail
