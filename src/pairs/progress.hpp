#pragma once
// Progress reports and cancellation of a running all-pairs call.

#include <chrono>
#include <cstdint>
#include <string_view>

#include <gpu/execution.hpp>

namespace gpu::inline v0::detail {

/// Calls the callback at most four times a second; throws gpu::cancelled where it asks for that.
class pair_progress {
 public:
  pair_progress(const progress_callback& callback, std::string_view stage, std::uint64_t total);
  void advance(std::uint64_t done);
  void finish();

 private:
  void report(bool always);
  const progress_callback& callback_;
  progress state_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace gpu::inline v0::detail
