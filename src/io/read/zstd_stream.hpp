#pragma once
// Decompression of zstd, where the build found its library.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/read/byte_stream.hpp"

namespace gpu::io {

inline constexpr std::string_view zstd_magic = "\x28\xB5\x2F\xFD";

/// Decompresses zstd as zstd(1) does: one frame or several, one behind the other.
/// @param name for messages.
/// @param max_bytes what the whole may unpack to.
/// @throw input_error where the build has no zstd; read() throws it where the data is damaged,
///   truncated, or unpacks to more.
[[nodiscard]] std::unique_ptr<byte_stream> make_zstd_stream(std::unique_ptr<byte_stream> compressed,
                                                            std::string name,
                                                            std::uint64_t max_bytes);

}  // namespace gpu::io
