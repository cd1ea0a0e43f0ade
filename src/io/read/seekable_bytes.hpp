#pragma once
// Bytes at any position, for formats whose index stands at their end.

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpu::io {

class seekable_bytes {
 public:
  virtual ~seekable_bytes() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out` from `position` on; returns the bytes read, less only where they end. Several
  /// threads may.
  /// @throw input_error, also for a file that is cut short while it is read
  [[nodiscard]] virtual std::size_t read_at(std::uint64_t position, std::span<char> out) const = 0;
};

}  // namespace gpu::io
