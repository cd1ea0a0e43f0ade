#include "base/page_supply.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "base/large_pages.hpp"

namespace gpu::inline v0::detail {
namespace {

#if defined(MADV_POPULATE_WRITE)
constexpr std::size_t bytes_per_thread = 4 * large_page_bytes;

// Whether the pages of a range wholly inside the caller's memory could be had.
bool populate(std::uintptr_t start, std::size_t bytes) {
  return madvise(reinterpret_cast<void*>(start), bytes, MADV_POPULATE_WRITE) == 0;
}
#endif

}  // namespace

void page_supply::start([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes,
                        [[maybe_unused]] int threads) {
  stop();
#if defined(MADV_POPULATE_WRITE)
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const std::uintptr_t last = (begin + bytes) / large_page_bytes * large_page_bytes;
  if (data == nullptr || first >= last) return;
  const std::size_t length = last - first;
  const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)),
                                            length / bytes_per_thread);
  next_ = 0;
  stopped_ = false;
  const auto work = [this, first, length] {
    while (!stopped_) {
      const std::size_t at = next_.fetch_add(large_page_bytes);
      if (at >= length || !populate(first + at, large_page_bytes)) return;
    }
  };
  try {
    for (std::size_t thread = 0; thread < wanted; ++thread) threads_.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: those there are do it, or who writes
  }
#endif
}

void page_supply::stop() noexcept {
  stopped_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace gpu::inline v0::detail
