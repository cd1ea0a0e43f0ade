#include "io/text/value_arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace gpu::io {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::size_t page_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

value_arena::value_arena(std::size_t capacity_bytes)
    : capacity_(round_up(std::max<std::size_t>(capacity_bytes, 1), page_bytes())) {
  void* const start = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  start_ = static_cast<std::byte*>(start);
  prefer_large_pages(start_, capacity_);
}

value_arena::~value_arena() {
  if (start_ != nullptr) ::munmap(start_, capacity_);
}

value_arena::value_arena(value_arena&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      used_(other.used_.load()) {}

void* value_arena::take_bytes(std::size_t bytes) {
  const std::size_t begin = used_.fetch_add(round_up(bytes, alignment));
  if (begin + bytes > capacity_) throw std::bad_alloc();
  return start_ + begin;
}

void value_arena::trim() {
  const std::size_t kept = std::max(round_up(used_.load(), page_bytes()), page_bytes());
  if (kept >= capacity_) return;
  ::munmap(start_ + kept, capacity_ - kept);
  capacity_ = kept;
}

void prefer_large_pages(void* data, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t worth_it = std::size_t{8} << 20;
  if (bytes < worth_it) return;
  const auto page = static_cast<std::uintptr_t>(page_bytes());
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + bytes) / page * page;
  // Only advice: where it is refused, nothing is lost but time.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

}  // namespace gpu::io
