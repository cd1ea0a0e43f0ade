#include "cli/verbs/file_lines.hpp"

#include <fstream>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::cli {

std::vector<std::string> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw io::input_error(path, {}, "cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace gpu::cli
