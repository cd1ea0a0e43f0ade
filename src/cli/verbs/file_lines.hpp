#pragma once
// Small files beside a table: labels of columns, names of rows.

#include <string>
#include <vector>

namespace gpu::cli {

/// The lines of a file without their ends, but for blank ones.
/// @throw io::input_error
[[nodiscard]] std::vector<std::string> lines_of_file(const std::string& path);

}  // namespace gpu::cli
