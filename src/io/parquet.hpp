#pragma once
// Whether this build has Apache Arrow's library of Parquet.

#include <string_view>

namespace gpu::io {

[[nodiscard]] bool has_parquet() noexcept;

/// What a build without it says behind the name of a file.
inline constexpr std::string_view no_parquet =
    "this build has no Parquet: it needs the C++ library Apache Arrow (CMake: "
    "GPU_SIMILARITY_ENABLE_PARQUET)";

}  // namespace gpu::io
