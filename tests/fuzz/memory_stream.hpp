#pragma once
// Bytes in memory as a stream that gives them out in pieces.

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/read/byte_stream.hpp"

namespace gpu_test {

class memory_stream final : public gpu::io::byte_stream {
 public:
  explicit memory_stream(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - used_);
    if (count > 0) std::memcpy(out.data(), bytes_.data() + used_, count);
    used_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t most_bytes() const override { return bytes_.size() - used_; }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

}  // namespace gpu_test
