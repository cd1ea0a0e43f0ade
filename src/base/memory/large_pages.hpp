#pragma once
// Large pages for large results: otherwise most of the time of writing fresh memory goes into page
// faults.

#include <cstddef>

namespace gpu::inline v0::detail {

inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Asks the system to back [data, data + bytes), which is still unwritten, with large pages. A
/// request only: nothing happens where the range is small or the system has no large pages.
void advise_large_pages(void* data, std::size_t bytes) noexcept;

/// Takes the pages wholly inside [data, data + bytes) from the system now, where it can; what was
/// written there stays.
void populate_pages(void* data, std::size_t bytes) noexcept;

}  // namespace gpu::inline v0::detail
