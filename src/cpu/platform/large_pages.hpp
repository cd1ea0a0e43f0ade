#pragma once
// Large pages for large results: otherwise most of the time of writing fresh memory goes into page
// faults.

#include <gpu/index.hpp>

#include "base/memory/large_pages.hpp"

namespace gpu::cpu {

using detail::advise_large_pages;

/// Rows of a fresh result that one thread should write before another takes the next ones: those of
/// a large page, as long as each thread still gets several shares. Threads that write to the same
/// fresh page at once would each clear a page, and only one of these is used.
index_t rows_of_large_page(index_t rows, index_t row_bytes, int threads) noexcept;

}  // namespace gpu::cpu
