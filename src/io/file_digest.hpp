#pragma once
// Size and checksum of a file.

#include <cstdint>
#include <optional>
#include <string>
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

/// Reads the file at `path`, by `threads` at most, 0: the default. Nothing where it
/// is not a regular file, cannot be read, or is cut short meanwhile.
[[nodiscard]] std::optional<file_digest> digest_of_file(const std::string& path, int threads = 0);

/// The same of an open file, whose position stays where it is.
[[nodiscard]] std::optional<file_digest> digest_of_file(int descriptor, int threads = 0);

}  // namespace gpu::io
