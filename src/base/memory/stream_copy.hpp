#pragma once
// Copies of data that is not read again soon.

#include <cstddef>

namespace gpu::inline v0::detail {

/// Copies past the caches where the processor can: lines that are written whole are not read first,
/// and other data stays in the caches.
void stream_copy(void* to, const void* from, std::size_t bytes);

}  // namespace gpu::inline v0::detail
