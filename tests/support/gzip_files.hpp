#pragma once
// Files that gzip compressed, by zlib's own functions.

#include <zlib.h>

#include <array>
#include <stdexcept>
#include <string>

namespace gpu_test {

/// Writes `text` by the mode of gzopen: "ab" adds a member to the file.
/// @throw std::runtime_error where it cannot be written
inline void write_gzip(const std::string& path, const std::string& text, const char* mode = "wb") {
  const gzFile file = gzopen(path.c_str(), mode);
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  const auto size = static_cast<unsigned>(text.size());
  const bool is_written = gzwrite(file, text.data(), size) == static_cast<int>(size);
  if (gzclose(file) != Z_OK || !is_written) throw std::runtime_error("cannot write " + path);
}

/// What is in the file, uncompressed.
/// @throw std::runtime_error where it cannot be read, or was not compressed
inline std::string read_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot read " + path);
  const bool is_compressed = gzdirect(file) == 0;
  std::string out;
  std::array<char, 65536> block{};
  int got = 0;
  while ((got = gzread(file, block.data(), block.size())) > 0) {
    out.append(block.data(), static_cast<std::size_t>(got));
  }
  if (gzclose(file) != Z_OK || got < 0) throw std::runtime_error("cannot read " + path);
  if (!is_compressed) throw std::runtime_error("not compressed: " + path);
  return out;
}

}  // namespace gpu_test
