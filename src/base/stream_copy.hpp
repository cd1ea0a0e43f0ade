#pragma once
// Copies of what is not read again soon.

#include <cstddef>

namespace gpu::inline v0::detail {

/// Copies past the caches where the processor can: memory that is written whole need not be read
/// first, and what the caches hold stays there.
void stream_copy(void* to, const void* from, std::size_t bytes);

}  // namespace gpu::inline v0::detail
