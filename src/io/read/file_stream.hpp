#pragma once
// The bytes of an open file, pipe or device.

#include <memory>
#include <optional>
#include <string>

#include "io/file_digest.hpp"
#include "io/read/byte_stream.hpp"
#include "io/stop_request.hpp"

namespace gpu::io {

/// Reads `descriptor` from where it stands, and closes it at the end. `name` is for messages.
///
/// A regular file is read, not mapped: where another process cuts it short meanwhile, that is an
/// input_error here and would be a signal there. Large pieces are read by several threads,
/// at most four of `threads`.
/// @param digest becomes that of the bytes that were read, where it is not null.
/// @throw input_error where it cannot be read or is a directory.
[[nodiscard]] std::unique_ptr<byte_stream> make_file_stream(
    int descriptor, std::string name, stop_request stop, int threads,
    std::shared_ptr<file_digest> digest = nullptr);

/// Closes `descriptor` too. The digest of a regular file from where it stands, by `threads` at
/// most, 0: the default. Nothing where it is not one, cannot be read, or is cut short meanwhile.
[[nodiscard]] std::optional<file_digest> digest_of_file(int descriptor, int threads = 0);

/// The same of the file at `path`.
[[nodiscard]] std::optional<file_digest> digest_of_file(const std::string& path, int threads = 0);

}  // namespace gpu::io
