#include "base/memory/large_pages.hpp"

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace gpu::inline v0::detail {

#if defined(__linux__)

namespace {

// Advice on the large pages wholly inside a range; a refusal changes nothing but speed.
void advise(void* data, std::size_t bytes, int advice) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (start + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const std::uintptr_t last = (start + bytes) / large_page_bytes * large_page_bytes;
  if (data == nullptr || first >= last) return;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, advice));
}

}  // namespace

void advise_large_pages(void* data, std::size_t bytes) noexcept {
  advise(data, bytes, MADV_HUGEPAGE);
}

void populate_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MADV_POPULATE_WRITE)
  advise(data, bytes, MADV_POPULATE_WRITE);
#endif
}

#else

void advise_large_pages(void*, std::size_t) noexcept {}
void populate_pages(void*, std::size_t) noexcept {}

#endif

}  // namespace gpu::inline v0::detail
