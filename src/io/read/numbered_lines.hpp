#pragma once
// The lines of a text, one by one, with their numbers.

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <gpu/index.hpp>

#include "io/read/input.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::io {

class numbered_lines {
 public:
  explicit numbered_lines(std::unique_ptr<line_source> source)
      : source_(std::move(source)), block_(without_byte_order_mark(source_->next())) {}

  /// The next line, without its end; false behind the last. Valid until the next call.
  bool next(std::string_view& line) {
    if (block_.empty()) block_ = source_->next();
    if (block_.empty()) return false;
    const std::size_t end = std::min(block_.find('\n'), block_.size());
    line = block_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    block_.remove_prefix(std::min(end + 1, block_.size()));
    ++number_;
    return true;
  }
  /// What next() has not given of the block that is there: whole lines.
  [[nodiscard]] std::string_view ahead() {
    if (block_.empty()) block_ = source_->next();
    return block_;
  }
  /// The next block, behind the one that is there; empty at the end.
  std::string_view next_block() { return block_ = source_->next(); }

  /// That of the last line, from 1.
  [[nodiscard]] index_t number() const noexcept { return number_; }

 private:
  std::unique_ptr<line_source> source_;
  std::string_view block_;
  index_t number_ = 0;
};

}  // namespace gpu::io
