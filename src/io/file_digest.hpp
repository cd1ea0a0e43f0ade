#pragma once
// Size and checksum of a file. file_stream.hpp has those of a file that is there.

#include <cstdint>
#include <string_view>

namespace gpu::io {

struct file_digest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< Of all bytes as they are in the file, as gzip and zlib compute it.

  /// The digest with `more` bytes behind those it is of.
  void add(std::string_view more) noexcept;
  /// The same with the bytes that `more` is of.
  void append(const file_digest& more) noexcept;
  friend bool operator==(const file_digest&, const file_digest&) = default;
};

}  // namespace gpu::io
