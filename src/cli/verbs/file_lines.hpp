#pragma once
// Small files that belong to a table: labels of columns, names of rows.

#include <string>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::cli {

/// The lines of a file without their ends and without blank lines. The file is opened as a table
/// is: it may be compressed, and what cannot be read is an error. Memory: the lines, and some
/// hundred kilobytes; a line of more than a megabyte is refused, and so are more lines than twice
/// those that are wanted, and a file of more than a gigabyte.
/// @param wanted how many lines there are, at most, where all is right: one for each of `what`
/// @throw io::input_error, io::interrupted
[[nodiscard]] std::vector<std::string> lines_of_file(const std::string& path, index_t wanted,
                                                     const char* what);

}  // namespace gpu::cli
