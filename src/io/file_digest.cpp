#include "io/file_digest.hpp"

#include <zlib.h>

namespace gpu::io {

void file_digest::add(std::string_view more) noexcept {
  if (more.empty()) return;  // a null pointer starts zlib's checksum anew
  crc32 = static_cast<std::uint32_t>(
      ::crc32_z(crc32, reinterpret_cast<const unsigned char*>(more.data()), more.size()));
  bytes += more.size();
}

void file_digest::append(const file_digest& more) noexcept {
  crc32 = static_cast<std::uint32_t>(
      ::crc32_combine(crc32, more.crc32, static_cast<z_off_t>(more.bytes)));
  bytes += more.bytes;
}

}  // namespace gpu::io
