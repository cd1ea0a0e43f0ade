#include "cpu/platform/large_pages.hpp"

#include <algorithm>

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace gpu::cpu {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

}  // namespace

void advise_large_pages(void* data, std::size_t bytes) noexcept {
#if defined(__linux__)
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (start + page - 1) / page * page;
  const std::uintptr_t last = (start + bytes) / page * page;
  if (data == nullptr || first >= last) return;
  // The pages wholly inside; a refusal changes nothing but speed.
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

index_t rows_of_large_page(index_t rows, index_t row_bytes, int threads) noexcept {
  constexpr index_t shares = 8;
  const index_t in_page = static_cast<index_t>(page) / std::max<index_t>(row_bytes, 1);
  return std::max<index_t>(1, std::min(in_page, rows / (shares * std::max(threads, 1))));
}

}  // namespace gpu::cpu
