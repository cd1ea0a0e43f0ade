#include "cli/verbs/file_lines.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "cli/process/interrupt.hpp"
#include "io/io_error.hpp"
#include "io/read/input.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {
namespace {

constexpr std::uint64_t most_bytes = 1'000'000'000;  // unpacked
constexpr std::size_t longest_line = 1'000'000;
constexpr std::size_t block_bytes = std::size_t{1} << 16;

class line_collector {
 public:
  line_collector(const std::string& path, index_t wanted, const char* what)
      : path_(path), wanted_(wanted), what_(what) {}

  /// Takes the next bytes of the file.
  void take(std::string_view text) {
    if ((bytes_ += text.size()) > most_bytes) {
      refuse(fmt::format("has more than {} bytes, expected a line for each of the {} {}",
                         most_bytes, wanted_, what_));
    }
    for (;;) {
      const std::size_t end = text.find('\n');
      line_ += text.substr(0, end);
      if (line_.size() > longest_line) {
        refuse(fmt::format("line {} has more than {} bytes", number_ + 1, longest_line));
      }
      if (end == std::string_view::npos) return;
      end_line();
      text.remove_prefix(end + 1);
    }
  }

  [[nodiscard]] std::vector<std::string> all() {
    end_line();
    return std::move(lines_);
  }

 private:
  void end_line() {
    std::string line = std::exchange(line_, {});
    if (++number_ == 1) line = io::without_byte_order_mark(line);
    line.erase(line.find_last_not_of(" \r") + 1);  // a tab has an empty field behind it
    if (line.empty()) return;
    const index_t most = 2 * wanted_ + 100;  // what repeats in fewer is named by who looks at them
    if (std::ssize(lines_) == most) {
      refuse(fmt::format("has more than {} lines, expected at most one for each of the {} {}", most,
                         wanted_, what_));
    }
    lines_.push_back(std::move(line));
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw io::input_error(path_, {}, text);
  }

  const std::string& path_;
  index_t wanted_;
  const char* what_;
  std::uint64_t bytes_ = 0;
  index_t number_ = 0;
  std::string line_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> lines_of_file(const std::string& path, index_t wanted, const char* what) {
  io::input file(path, is_interrupted, most_bytes);
  const auto bytes = file.bytes();
  line_collector lines(path, wanted, what);
  std::string block(block_bytes, '\0');
  for (std::size_t got = block.size(); got == block.size();) {
    file.check_stop();
    got = bytes->read(block);
    lines.take(std::string_view(block).substr(0, got));
  }
  return lines.all();
}

}  // namespace gpu::cli
