#pragma once
// Reads text from a file, and what a table holds.

#include <string>
#include <vector>

#include "io/read/read_table.hpp"
#include "support/refusals.hpp"
#include "support/temporary_file.hpp"

namespace gpu_test {

inline gpu::io::table read_text(const std::string& text,
                                const gpu::io::read_options& options = {}) {
  const temporary_folder folder;
  return gpu::io::read_table(folder.write("in.txt", text), options);
}

/// The message of what is refused; "" where it is read.
inline std::string refusal_of_text(const std::string& text,
                                   const gpu::io::read_options& options = {}) {
  return refusal_of<gpu::io::input_error>([&] { (void)read_text(text, options); });
}

/// All values as doubles, row by row.
inline std::vector<double> values_of(const gpu::io::table& table) {
  return std::visit(
      [](const auto& m) { return std::vector<double>(m.data(), m.data() + m.rows() * m.cols()); },
      table.values);
}

}  // namespace gpu_test
