#pragma once
// Text tables: numbers separated by spaces, tabs or commas, read by all cores.

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// Reads the text that `source` delivers; `file` is named in errors.
[[nodiscard]] table read_text(line_source& source, const read_options& options,
                              const std::string& file);

}  // namespace gpu::io
