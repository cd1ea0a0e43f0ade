#pragma once
// Large pages for large results: writing fresh memory is mostly page faults otherwise.

#include <cstddef>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Asks the system to back [data, data + bytes), which is still unwritten, with large pages. Only a
/// wish: nothing happens where it is small or the system has none.
void advise_large_pages(void* data, std::size_t bytes) noexcept;

/// Rows of a fresh result that one thread should write before another takes the next ones: those of
/// a large page, as long as each thread still gets several shares. Threads that come to the same
/// fresh page at once clear one each, and all but one of them for nothing.
index_t rows_of_large_page(index_t rows, index_t row_bytes, int threads) noexcept;

}  // namespace gpu::cpu
