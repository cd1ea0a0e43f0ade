#include "cli/verbs/file_lines.hpp"

#include <fstream>
#include <string_view>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::cli {

std::vector<std::string> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw io::input_error(path, {}, "cannot be read");
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  constexpr std::string_view blanks = " \r";
  std::vector<std::string> lines;
  bool is_first = true;
  for (std::string line; std::getline(file, line); is_first = false) {
    if (is_first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    line.erase(line.find_last_not_of(blanks) + 1);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace gpu::cli
