#pragma once
// Bytes in order, wherever they come from.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace gpu::io {

class byte_stream {
 public:
  virtual ~byte_stream() = default;
  /// Fills `out` as far as there are bytes; less only at the end.
  /// @throw input_error where reading or decompressing fails, also for a file that is cut short
  ///   while it is read and for a truncated .gz.
  virtual std::size_t read(std::span<char> out) = 0;
  /// No more than this many bytes are left.
  [[nodiscard]] virtual std::uint64_t most_bytes() const {
    return std::numeric_limits<std::uint64_t>::max();
  }
};

}  // namespace gpu::io
