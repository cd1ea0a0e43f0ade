#pragma once
// Text of many like items (numbers, lines), made by several threads and written in order.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "base/parallel.hpp"
#include "io/write/output_file.hpp"

namespace gpu::io {

/// Keeps its buffers from one call to the next: some megabytes a thread.
class parallel_text {
 public:
  /// `out` outlives the object. @param threads 0: what OpenMP would take.
  parallel_text(output_file& out, int threads) : out_(out), threads_(cpu::thread_count(threads)) {}

  /// Writes items [0, items). `format(end, first, last)` appends the text of items [first, last)
  /// at `end`, at most `most_bytes` each, and returns the new end; it is called by several threads.
  /// @throw what output_file::write throws.
  template <class Format>
  void write(index_t items, std::size_t most_bytes, const Format& format) {
    constexpr std::size_t part_bytes = std::size_t{1} << 20;
    const auto part = static_cast<index_t>(std::max<std::size_t>(part_bytes / most_bytes, 1));
    const std::size_t room = static_cast<std::size_t>(part) * most_bytes;
    buffers_.resize(static_cast<std::size_t>(threads_) * parts_a_thread);
    for (index_t first = 0; first < items;) {
      const index_t parts =
          std::min<index_t>((items - first + part - 1) / part, std::ssize(buffers_));
      cpu::parallel_for(parts, threads_, [&](index_t k, int) {
        buffer& text = buffers_[static_cast<std::size_t>(k)];
        if (text.room < room) {
          text.bytes = std::make_unique_for_overwrite<char[]>(room);
          text.room = room;
        }
        const index_t begin = first + k * part;
        const char* const end = format(text.bytes.get(), begin, std::min(begin + part, items));
        text.used = static_cast<std::size_t>(end - text.bytes.get());
      });
      for (index_t k = 0; k < parts; ++k) {
        const buffer& text = buffers_[static_cast<std::size_t>(k)];
        out_.write({text.bytes.get(), text.used});
      }
      first = std::min(items, first + parts * part);
    }
  }

 private:
  struct buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t room = 0;
    std::size_t used = 0;
  };
  static constexpr std::size_t parts_a_thread = 4;

  output_file& out_;
  int threads_;
  std::vector<buffer> buffers_;
};

}  // namespace gpu::io
