#pragma once
// What a kind of call does not take of gpu::execution.

#include <gpu/execution.hpp>

namespace gpu::inline v0::detail {

/// No stream: calls on host memory take streams of their own. Throws gpu::invalid_argument.
void check_no_stream(const execution& exec);

/// At most one device, for operations that run on one. Throws gpu::unsupported.
void check_one_device(const execution& exec);

}  // namespace gpu::inline v0::detail
