#include <gpu/array.hpp>

#include <cstdlib>
#include <new>

#include "base/large_pages.hpp"

namespace gpu::inline v0::detail {

namespace {
// Smaller blocks may share their pages with others.
constexpr std::size_t least_large = std::size_t{32} << 20;
}  // namespace

// The C library takes large blocks from the system and moves their pages when they grow.
void* resize_storage(void* memory, std::size_t bytes) {
  void* const resized = std::realloc(memory, bytes);
  if (resized == nullptr) throw std::bad_alloc();
  if (bytes >= least_large) advise_large_pages(resized, bytes);
  return resized;
}

void free_storage(void* memory) noexcept {
  std::free(memory);
}

}  // namespace gpu::inline v0::detail
