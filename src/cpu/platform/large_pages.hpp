#pragma once
// Large pages for large results: writing fresh memory is mostly page faults otherwise.

#include <gpu/index.hpp>

#include "base/large_pages.hpp"

namespace gpu::cpu {

using detail::advise_large_pages;

/// Rows of a fresh result that one thread should write before another takes the next ones: those of
/// a large page, as long as each thread still gets several shares. Threads that come to the same
/// fresh page at once clear one each, and all but one of them for nothing.
index_t rows_of_large_page(index_t rows, index_t row_bytes, int threads) noexcept;

}  // namespace gpu::cpu
