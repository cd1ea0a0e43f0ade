#pragma once
// Bytes in order, wherever they come from.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "io/read/seekable_bytes.hpp"

namespace gpu::io {

/// Sequential bytes.
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
  /// All of the bytes, also those that were read, at any position; null where they only pass.
  [[nodiscard]] virtual std::unique_ptr<seekable_bytes> seekable() const { return nullptr; }
};

}  // namespace gpu::io
