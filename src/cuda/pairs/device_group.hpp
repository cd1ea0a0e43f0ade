#pragma once
// All pairs on several devices of one host: one engine per device, each with all rows, and the
// pairs of the area shared out as the devices get free.

#include <memory>
#include <span>

#include <gpu/execution.hpp>

#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Prepares `input` on each of the devices, side by side, and returns an engine that works on all
/// of them: the same result as one device, edges that are ordered in the same order. What the
/// caller handed in (progress, receivers of edges) is called on the thread that calls the engine.
/// input.exec.workspace_bytes is per device. The same device may be given more than once, which
/// gains nothing but tests the sharing.
detail::made_engine make_device_group(const detail::measure_traits& what,
                                      const detail::pair_input& input,
                                      std::span<const device_info> devices, pair_variant variant);

}  // namespace gpu::cuda
