#include "cli/verbs/file_lines.hpp"

#include <fstream>
#include <utility>

#include "io/io_error.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {

std::vector<std::string> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw io::input_error(path, {}, "cannot be read");
  std::vector<std::string> lines;
  bool is_first = true;
  for (std::string line; std::getline(file, line); is_first = false) {
    if (is_first) line = io::without_byte_order_mark(line);
    line.erase(line.find_last_not_of(" \r") + 1);  // a tab has an empty field behind it
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace gpu::cli
