#pragma once
// Text of many like items (numbers, lines), made by several threads and written in order.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <gpu/index.hpp>

#include "io/write/output_file.hpp"

namespace gpu::io {

/// Keeps its buffers from one call to the next: some megabytes a thread.
class parallel_text {
 public:
  /// Appends the text of items [first, last) at `end`; returns the new end.
  using formatter = std::function<char*(char* end, index_t first, index_t last)>;

  /// `out` outlives the object. @param threads 0: the default.
  parallel_text(output_file& out, int threads);

  /// Writes items [0, items), at most `most_bytes` each. Several threads call `format`.
  /// @throw what output_file::write throws.
  void write(index_t items, std::size_t most_bytes, const formatter& format);

 private:
  struct buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t room = 0;
    std::size_t used = 0;
  };

  output_file& out_;
  int threads_;
  std::vector<buffer> buffers_;
};

}  // namespace gpu::io
