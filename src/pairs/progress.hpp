#pragma once
// Progress reports and cancellation of a running all-pairs call.

#include <cstdint>
#include <string_view>

#include <gpu/execution.hpp>

#include "base/call_progress.hpp"

namespace gpu::inline v0::detail {

/// The progress of a stage of all pairs.
class pair_progress : public call_progress {
 public:
  pair_progress(const progress_callback& callback, std::string_view stage, std::uint64_t total)
      : call_progress(callback, "all pairs", stage, total) {}
};

}  // namespace gpu::inline v0::detail
