#pragma once
// Bytes of an input, in order: a regular file mapped to memory, or a stream (standard input, a
// pipe, gzip) read ahead by one block while the block before it is parsed.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/stop_request.hpp"

namespace gpu::io {

/// Sequential bytes. Compressed input is recognised by its first bytes and decompressed.
class byte_stream {
 public:
  virtual ~byte_stream() = default;
  /// Fills `out` as far as there are bytes; less only at the end.
  /// @throw input_error where reading or decompressing fails, also for a truncated .gz.
  virtual std::size_t read(std::span<char> out) = 0;
};

/// Blocks of whole lines.
class line_source {
 public:
  virtual ~line_source() = default;
  /// The next block: whole lines, the last line of the input perhaps without its newline. Empty at
  /// the end. Valid until the next call. The first block holds the first two lines.
  virtual std::string_view next() = 0;
};

/// An opened input whose first bytes are known.
class input {
 public:
  /// Opens `path`, "-" for standard input.
  /// @throw input_error where it cannot be opened or read, or is a directory.
  explicit input(const std::string& path, stop_request stop = {});

  /// For messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether the (decompressed) bytes begin with `magic`.
  [[nodiscard]] bool begins_with(std::string_view magic) const;
  /// All bytes from the beginning. Call one of the two, once.
  [[nodiscard]] std::unique_ptr<byte_stream> bytes();
  [[nodiscard]] std::unique_ptr<line_source> lines();

 private:
  void take_head();

  std::string name_;
  stop_request stop_;
  std::unique_ptr<byte_stream> stream_;
  std::string head_;              // first bytes, already taken from the stream
  int descriptor_ = -1;           // of a regular file, owned by the stream
  std::size_t mapped_bytes_ = 0;  // its size; 0 for everything else
};

}  // namespace gpu::io
