#include "io/write/parallel_text.hpp"

#include <algorithm>
#include <iterator>

#include "base/parallel.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20;
constexpr std::size_t parts_a_thread = 4;
constexpr std::size_t short_part_bytes = std::size_t{1} << 12;  // written in less than threads wake

}  // namespace

parallel_text::parallel_text(output_file& out, int threads)
    : out_(out), threads_(detail::thread_count(threads)) {}

void parallel_text::write(index_t items, std::size_t most_bytes, const formatter& format) {
  const auto part = static_cast<index_t>(std::max<std::size_t>(part_bytes / most_bytes, 1));
  const std::size_t room = static_cast<std::size_t>(part) * most_bytes;
  buffers_.resize(static_cast<std::size_t>(threads_) * parts_a_thread);
  bool is_short = false;
  for (index_t first = 0; first < items;) {
    const index_t parts =
        std::min<index_t>((items - first + part - 1) / part, std::ssize(buffers_));
    // Where one long name makes parts of few short lines, threads would wait more than they write.
    detail::parallel_for(parts, is_short ? 1 : threads_, [&](index_t k, int) {
      buffer& text = buffers_[static_cast<std::size_t>(k)];
      if (text.room < room) {
        text.bytes = std::make_unique_for_overwrite<char[]>(room);
        text.room = room;
      }
      const index_t begin = first + k * part;
      const char* const end = format(text.bytes.get(), begin, std::min(begin + part, items));
      text.used = static_cast<std::size_t>(end - text.bytes.get());
    });
    std::size_t used = 0;
    for (index_t k = 0; k < parts; ++k) {
      const buffer& text = buffers_[static_cast<std::size_t>(k)];
      out_.write({text.bytes.get(), text.used});
      used += text.used;
    }
    is_short = used < static_cast<std::size_t>(parts) * short_part_bytes;
    first = std::min(items, first + parts * part);
  }
}

}  // namespace gpu::io
