#pragma once
// Compressed outputs. Each block is a file of its own, a gzip member or a zstd frame: several
// behind each other are one file to every reader, so that threads compress blocks independently.

#include <cstddef>
#include <string_view>

namespace gpu::io {

enum class compression { none, gzip, zstd };

/// Whether this build can: gzip always, zstd where its library was found.
[[nodiscard]] bool is_available(compression how) noexcept;

/// Most bytes that `bytes` become.
[[nodiscard]] std::size_t compressed_bound(compression how, std::size_t bytes);

/// Compresses `bytes` to `out`, which has room for compressed_bound(); returns the bytes used.
/// @throw std::bad_alloc
[[nodiscard]] std::size_t compress(compression how, std::string_view bytes, char* out);

}  // namespace gpu::io
