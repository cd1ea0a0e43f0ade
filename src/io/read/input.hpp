#pragma once
// An input of any kind (a file, standard input, a pipe, gzip), as bytes or as blocks of lines.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/file_digest.hpp"
#include "io/read/byte_stream.hpp"
#include "io/stop_request.hpp"

namespace gpu::io {

class line_source {
 public:
  virtual ~line_source() = default;
  /// The next block: whole lines, the last line of the input perhaps without its newline. Empty at
  /// the end. Valid until the next call.
  virtual std::string_view next() = 0;
};

/// An opened input whose first bytes are known.
class input {
 public:
  /// Opens `path`, "-" for standard input. Compressed input is recognised by its first bytes and
  /// decompressed, to at most `max_bytes`.
  /// @param digest becomes that of the bytes that are read of the file, compressed or not, where it
  ///   is not null: that of the whole file once everything was read.
  /// @param threads that read at most, 0: the default. With 1 the caller reads.
  /// @throw input_error where it cannot be opened or read, or is a directory.
  input(const std::string& path, stop_request stop, std::uint64_t max_bytes,
        std::shared_ptr<file_digest> digest = nullptr, int threads = 0);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether the (decompressed) bytes begin with `magic`.
  [[nodiscard]] bool begins_with(std::string_view magic) const;
  /// All bytes from the beginning. Call one of the two, once. Blocks of lines are read ahead by
  /// one while the block before is parsed, where there is more than one thread.
  [[nodiscard]] std::unique_ptr<byte_stream> bytes();
  [[nodiscard]] std::unique_ptr<line_source> lines();
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }
  /// Asked between blocks.
  /// @throw interrupted where the stop request of the constructor asked for it
  void check_stop() const;
  /// Which share of the file is read by now, from 0 to 1; nothing of a pipe.
  [[nodiscard]] std::optional<double> share_read() const;

 private:
  void take_head();

  std::string name_;
  stop_request stop_;
  std::uint64_t max_bytes_;
  int threads_;
  std::unique_ptr<byte_stream> stream_;
  std::string head_;              // first bytes, already taken from the stream
  std::uint64_t file_bytes_ = 0;  // as the file has them; 0: not known
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_read_;
};

}  // namespace gpu::io
