#pragma once
// A text in blocks of whole lines.

#include <string_view>
#include <vector>

#include "io/read/input.hpp"

namespace gpu_test {

/// Blocks of whole lines, each of them in memory of its own size, so that a read beyond its end is
/// seen.
class blocks_of_lines final : public gpu::io::line_source {
 public:
  blocks_of_lines(std::string_view text, std::size_t block_bytes)
      : rest_(text), block_bytes_(block_bytes) {}

  std::string_view next() override {
    const std::size_t end = behind_line(block_bytes_);
    block_ = std::vector<char>(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end));
    rest_.remove_prefix(end);
    return {block_.data(), block_.size()};
  }

 private:
  [[nodiscard]] std::size_t behind_line(std::size_t position) const {
    const std::size_t newline = rest_.find('\n', position);
    return newline == std::string_view::npos ? rest_.size() : newline + 1;
  }
  std::string_view rest_;
  std::size_t block_bytes_;
  std::vector<char> block_;
};

}  // namespace gpu_test
