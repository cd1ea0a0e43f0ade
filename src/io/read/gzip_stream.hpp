#pragma once
// Decompression of gzip.

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/read/byte_stream.hpp"

namespace gpu::io {

inline constexpr std::string_view gzip_magic = "\x1F\x8B";

/// How zlib takes its memory; nothing said: as it does by itself.
struct zlib_memory {
  alloc_func take = nullptr;
  free_func give_back = nullptr;
};

/// Decompresses gzip as gzip(1) does: one member or several, one behind the other, with nothing or
/// zeros (the padding of tapes and block devices) behind the last.
class gzip_stream final : public byte_stream {
 public:
  /// @param name for messages.
  /// @param max_bytes what the whole may unpack to.
  gzip_stream(std::unique_ptr<byte_stream> compressed, std::string name, std::uint64_t max_bytes,
              zlib_memory memory = {});
  ~gzip_stream() override;
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;

  /// @throw input_error where the data is damaged, truncated, unpacks to more than `max_bytes` or
  ///   is followed by anything else; std::bad_alloc.
  std::size_t read(std::span<char> out) override;
  [[nodiscard]] std::uint64_t most_bytes() const override { return max_bytes_ - unpacked_bytes_; }

 private:
  enum class place { in_member, behind_member, at_end };

  bool refill();
  void inflate_to(std::span<char> out, std::size_t& filled);
  void look_behind_member();
  [[noreturn]] void fail(const std::string& what) const;

  std::unique_ptr<byte_stream> compressed_;
  std::string name_;
  std::uint64_t max_bytes_;
  std::uint64_t unpacked_bytes_ = 0;
  std::size_t buffer_bytes_;  ///< What is read at once: less where no more can come.
  std::unique_ptr<char[]> buffer_;
  z_stream state_ = {};
  place place_ = place::in_member;
};

}  // namespace gpu::io
