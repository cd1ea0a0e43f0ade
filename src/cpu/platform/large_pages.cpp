#include "cpu/platform/large_pages.hpp"

#include <algorithm>

namespace gpu::cpu {

index_t rows_of_large_page(index_t rows, index_t row_bytes, int threads) noexcept {
  constexpr index_t shares = 8;
  const index_t in_page =
      static_cast<index_t>(detail::large_page_bytes) / std::max<index_t>(row_bytes, 1);
  return std::max<index_t>(1, std::min(in_page, rows / (shares * std::max(threads, 1))));
}

}  // namespace gpu::cpu
