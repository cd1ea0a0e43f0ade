#include "base/large_pages.hpp"

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace gpu::inline v0::detail {

void advise_large_pages(void* data, std::size_t bytes) noexcept {
#if defined(__linux__)
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (start + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const std::uintptr_t last = (start + bytes) / large_page_bytes * large_page_bytes;
  if (data == nullptr || first >= last) return;
  // The pages wholly inside; a refusal changes nothing but speed.
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

}  // namespace gpu::inline v0::detail
