#pragma once
// Text that is written whenever a buffer of it is full.

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

#include "io/write/output_file.hpp"

namespace gpu::io {

class buffered_text {
 public:
  explicit buffered_text(output_file& out) : out_(out) {}
  auto end() { return std::back_inserter(buffer_); }
  void end_line() {
    buffer_.push_back('\n');
    constexpr std::size_t full = std::size_t{1} << 20;
    if (buffer_.size() >= full) flush();
  }
  void flush() {
    out_.write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  output_file& out_;
  fmt::memory_buffer buffer_;
};

}  // namespace gpu::io
