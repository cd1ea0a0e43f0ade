// The arena that cuts a call's scratch memory: what it counts without memory is what it takes with
// it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime/arena.hpp"
#include "support/catch.hpp"

namespace {

struct pieces {
  double* first;
  std::uint8_t* empty;
  std::uint8_t* small;
  std::uint32_t* last;
  std::size_t bytes;
};

pieces cut(std::byte* memory) {
  gpu::cuda::arena from(memory);
  pieces out{};
  out.first = from.take<double>(33);  // 264 bytes
  out.empty = from.take<std::uint8_t>(0);
  out.small = from.take<std::uint8_t>(std::int64_t{1});
  out.last = from.take<std::uint32_t>(std::size_t{64});  // 256 bytes
  out.bytes = from.bytes();
  return out;
}

}  // namespace

TEST_CASE("an arena without memory counts and hands out null") {
  const pieces counted = cut(nullptr);
  CHECK(counted.first == nullptr);
  CHECK(counted.small == nullptr);
  CHECK(counted.last == nullptr);
  CHECK(counted.bytes == 512 + 0 + 256 + 256);
}

TEST_CASE("pieces follow each other, each 256 bytes aligned from the begin") {
  std::vector<std::byte> memory(cut(nullptr).bytes);
  const pieces found = cut(memory.data());
  const auto offset = [&](const void* piece) {
    return static_cast<const std::byte*>(piece) - memory.data();
  };
  CHECK(offset(found.first) == 0);
  CHECK(offset(found.empty) == 512);
  CHECK(offset(found.small) == 512);
  CHECK(offset(found.last) == 768);
  CHECK(found.bytes == memory.size());
}
