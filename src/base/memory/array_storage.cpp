#include <gpu/array.hpp>

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#endif

#include "base/memory/large_pages.hpp"

namespace gpu::inline v0::detail {

#if defined(__linux__)

namespace {

// Blocks from this size on are mappings of their own that begin and end at boundaries of large
// pages, so that the system moves them by large pages: 256 MiB in 0.1 ms. The C library's own
// blocks start behind such a boundary, and moving 256 MiB of those took 390 ms. Their pages are
// fresh ones each time, 800 for a list of 3 MiB.
constexpr std::size_t least_mapped = large_page_bytes / 2;

bool is_mapped(std::size_t bytes) {
  return bytes >= least_mapped;
}
std::size_t mapped_bytes(std::size_t bytes) {
  return (bytes + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
}

void* checked(void* memory, const void* failed) {
  if (memory == failed) throw std::bad_alloc();
  return memory;
}

// A mapping at the boundary of a large page.
void* map_aligned(std::size_t length, int protection) {
  const std::size_t all = length + large_page_bytes;
  auto* const place = static_cast<std::byte*>(
      checked(mmap(nullptr, all, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAP_FAILED));
  const std::size_t rest = reinterpret_cast<std::uintptr_t>(place) % large_page_bytes;
  const std::size_t before = rest == 0 ? 0 : large_page_bytes - rest;
  if (before > 0) static_cast<void>(munmap(place, before));
  const std::size_t behind = large_page_bytes - before;
  if (behind > 0) static_cast<void>(munmap(place + before + length, behind));
  return place + before;
}

// Advises on the whole mapping: advice on a part would split it in two, which the system does not
// move as one.
void advise_mapping(void* memory, std::size_t bytes) {
  advise_large_pages(memory, mapped_bytes(bytes));
}

void* resize_mapping(void* memory, std::size_t old_length, std::size_t length) {
  void* const in_place = mremap(memory, old_length, length, 0);
  if (in_place != MAP_FAILED) return in_place;
  void* const place = map_aligned(length, PROT_NONE);
  void* const moved = mremap(memory, old_length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (moved == MAP_FAILED) static_cast<void>(munmap(place, length));
  return checked(moved, MAP_FAILED);
}

// Keeps the mappings of arrays that are gone for the next arrays, because the system clears every
// fresh page, which takes longer than filling it. The system may take kept pages back at any time
// (MADV_FREE).
class kept_mappings {
 public:
  // Keeps a mapping, or the first part of a large one; unmaps what it does not keep.
  void put(std::byte* memory, std::size_t length) {
    const std::size_t kept = std::min(length, most_bytes);
    if (kept < length) static_cast<void>(munmap(memory + kept, length - kept));
    static_cast<void>(madvise(memory, kept, MADV_FREE));
    const std::lock_guard guard(lock_);
    while (count_ == most_blocks || bytes_ + kept > most_bytes) drop_oldest();
    blocks_[count_++] = {memory, kept};
    bytes_ += kept;
  }
  // A mapping of `length` bytes that has pages of a kept one, whose rest stays kept; null where
  // none is kept.
  [[nodiscard]] void* take(std::size_t length) {
    block taken{};
    {
      const std::lock_guard guard(lock_);
      if (count_ == 0) return nullptr;
      const std::size_t at = best_for(length);
      block& best = blocks_[at];
      if (best.length > length) {
        best.length -= length;
        bytes_ -= length;
        return best.memory + best.length;
      }
      taken = best;
      drop(at);
    }
    try {
      return resize_mapping(taken.memory, taken.length, length);
    } catch (const std::bad_alloc&) {
      static_cast<void>(munmap(taken.memory, taken.length));
      throw;
    }
  }

 private:
  struct block {
    std::byte* memory;
    std::size_t length;
  };
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;
  static constexpr std::size_t most_blocks = 4;

  // The smallest that is large enough; where none is, the largest.
  [[nodiscard]] std::size_t best_for(std::size_t length) const {
    std::size_t best = 0;
    for (std::size_t at = 1; at < count_; ++at) {
      const std::size_t known = blocks_[best].length;
      const std::size_t other = blocks_[at].length;
      const bool is_better = known < length ? other > known : other >= length && other < known;
      if (is_better) best = at;
    }
    return best;
  }
  void drop_oldest() {
    static_cast<void>(munmap(blocks_[0].memory, blocks_[0].length));
    drop(0);
  }
  // Forgets a block.
  void drop(std::size_t at) {
    bytes_ -= blocks_[at].length;
    std::copy(blocks_.data() + at + 1, blocks_.data() + count_, blocks_.data() + at);
    --count_;
  }

  std::mutex lock_;
  std::array<block, most_blocks> blocks_{};  // the one that was kept longest ago first
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

// Never destroyed: arrays may outlive other static objects.
kept_mappings& kept() {
  static auto& only = *new kept_mappings;
  return only;
}

void* new_mapping(std::size_t length) {
  void* const used = kept().take(length);
  return used != nullptr ? used : map_aligned(length, PROT_READ | PROT_WRITE);
}

}  // namespace

void* resize_storage(void* memory, std::size_t old_bytes, std::size_t bytes) {
  if (!is_mapped(old_bytes) && !is_mapped(bytes)) {
    return checked(std::realloc(memory, bytes), nullptr);
  }
  if (is_mapped(old_bytes) && is_mapped(bytes)) {
    void* const resized = resize_mapping(memory, mapped_bytes(old_bytes), mapped_bytes(bytes));
    advise_mapping(resized, bytes);
    return resized;
  }
  void* const other =
      is_mapped(bytes) ? new_mapping(mapped_bytes(bytes)) : checked(std::malloc(bytes), nullptr);
  if (is_mapped(bytes)) advise_mapping(other, bytes);
  if (memory != nullptr) std::memcpy(other, memory, old_bytes < bytes ? old_bytes : bytes);
  free_storage(memory, old_bytes);
  return other;
}

void free_storage(void* memory, std::size_t bytes) noexcept {
  if (is_mapped(bytes)) {
    kept().put(static_cast<std::byte*>(memory), mapped_bytes(bytes));
  } else {
    std::free(memory);
  }
}

#else

void* resize_storage(void* memory, std::size_t, std::size_t bytes) {
  void* const resized = std::realloc(memory, bytes);
  if (resized == nullptr) throw std::bad_alloc();
  return resized;
}

void free_storage(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#endif

}  // namespace gpu::inline v0::detail
