#pragma once

#include <string>

namespace gpu::cli {

/// Version, backends, devices, and what `auto` would take here.
[[nodiscard]] std::string info_text();

}  // namespace gpu::cli
