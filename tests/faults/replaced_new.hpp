#pragma once
// Replaces operator new and operator delete of the program that includes it, once, by
// gpu_test::allocate and gpu_test::release, which that program defines.

#include <cstddef>
#include <new>

namespace gpu_test {

/// At least `bytes`, 0 included; throws std::bad_alloc.
[[gnu::noinline]] void* allocate(std::size_t bytes, std::size_t alignment);
/// What allocate returned, or null. A compiler that sees into it takes free() for a mistake.
[[gnu::noinline]] void release(void* memory);

}  // namespace gpu_test

void* operator new(std::size_t bytes) {
  return gpu_test::allocate(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) {
  return gpu_test::allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return gpu_test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return gpu_test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  gpu_test::release(memory);
}
void operator delete[](void* memory) noexcept {
  gpu_test::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  gpu_test::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  gpu_test::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  gpu_test::release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  gpu_test::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  gpu_test::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  gpu_test::release(memory);
}
