#pragma once
// Bytes in order, wherever they come from.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace gpu::io {

/// Bytes at any position, for formats whose index stands at their end.
class seekable_bytes {
 public:
  virtual ~seekable_bytes() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out` from `position` on; returns the bytes read, less only where they end. Several
  /// threads may.
  /// @throw input_error, also for a file that is cut short while it is read
  [[nodiscard]] virtual std::size_t read_at(std::uint64_t position, std::span<char> out) const = 0;
};

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
