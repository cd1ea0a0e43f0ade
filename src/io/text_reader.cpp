#include "io/text_reader.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "io/text_segment.hpp"

namespace gpu::io {
namespace {

// A segment's values stay in the second-level cache between reading and narrowing.
constexpr std::size_t segment_bytes = std::size_t{256} << 10;

int thread_count(const read_options& options) {
  return options.threads > 0 ? options.threads : omp_get_max_threads();
}

/// The start of the first line at or behind `position`.
std::size_t line_start(std::string_view text, std::size_t position) {
  if (position == 0) return 0;
  const std::size_t newline = text.find('\n', position - 1);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

/// Reads one block by all threads and appends its segments, in order.
void read_block(std::string_view block, const text_layout& layout, int threads,
                std::vector<text_segment>& segments) {
  const std::size_t count = (block.size() + segment_bytes - 1) / segment_bytes;
  const std::size_t first = segments.size();
  segments.resize(first + count);
  // An exception must not leave the parallel region; behind a bad line nothing needs reading.
  std::exception_ptr failure;
  std::atomic<std::size_t> stop_at{count};
#pragma omp parallel num_threads(threads)
  {
    segment_reader reader(block, layout);
#pragma omp for schedule(dynamic, 1)
    for (std::size_t k = 0; k < count; ++k) {
      if (k > stop_at.load(std::memory_order_relaxed)) continue;
      try {
        const std::size_t begin = line_start(block, k * segment_bytes);
        const std::size_t end = line_start(block, std::min(block.size(), (k + 1) * segment_bytes));
        text_segment& segment = segments[first + k];
        segment = reader.read(block.substr(begin, end - begin));
        if (segment.error) stop_at = std::min(stop_at.load(), k);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Whether all integers of a table lie within T's range.
template <class T>
bool all_fit(const std::vector<text_segment>& segments) {
  return std::all_of(segments.begin(), segments.end(), [](const text_segment& s) {
    return s.smallest >= std::numeric_limits<T>::min() &&
           s.largest <= std::numeric_limits<T>::max();
  });
}

/// Joins the segments to a matrix of T, giving back each one's memory as soon as it is copied.
template <class T>
matrix<T> join(std::vector<text_segment>& segments, index_t cols, int threads) {
  std::vector<index_t> first_row(segments.size());
  index_t rows = 0;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    first_row[k] = std::exchange(rows, rows + segments[k].rows);
  }
  matrix<T> out(rows, cols);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::size_t k = 0; k < segments.size(); ++k) {
    T* const target = out.data() + first_row[k] * cols;
    std::visit(
        [target](auto& values) {
          std::transform(values.begin(), values.end(), target,
                         [](auto v) { return static_cast<T>(v); });
          values = {};
        },
        segments[k].values);
  }
  return out;
}

any_matrix join_narrowest(std::vector<text_segment>& segments, index_t cols, int threads) {
  const bool has_reals = std::any_of(segments.begin(), segments.end(), [](const text_segment& s) {
    return std::holds_alternative<std::vector<double>>(s.values);
  });
  if (has_reals) return join<double>(segments, cols, threads);
  if (all_fit<std::int8_t>(segments)) return join<std::int8_t>(segments, cols, threads);
  if (all_fit<std::uint8_t>(segments)) return join<std::uint8_t>(segments, cols, threads);
  if (all_fit<std::int16_t>(segments)) return join<std::int16_t>(segments, cols, threads);
  if (all_fit<std::uint16_t>(segments)) return join<std::uint16_t>(segments, cols, threads);
  return join<std::int32_t>(segments, cols, threads);
}

/// Removes the first line that is not blank, and the blank ones before it. Returns their number.
index_t skip_header(std::string_view& block) {
  index_t lines = 0;
  for (bool found = false; !found && !block.empty();) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    found = !trimmed(block.substr(0, end)).empty();
    block.remove_prefix(std::min(end + 1, block.size()));
    ++lines;
  }
  return lines;
}

std::string_view without_byte_order_mark(std::string_view block) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return block.starts_with(mark) ? block.substr(mark.size()) : block;
}

}  // namespace

table read_text(line_source& source, const read_options& options, const std::string& file) {
  std::string_view block = without_byte_order_mark(source.next());
  const text_layout layout = find_layout(block, options.header, options.row_names, file);
  const int threads = thread_count(options);

  table out;
  std::vector<text_segment> segments;
  index_t lines_before = layout.header ? skip_header(block) : 0;
  for (; !block.empty(); block = source.next()) {
    const std::size_t first = segments.size();
    read_block(block, layout, threads, segments);
    for (std::size_t k = first; k < segments.size(); ++k) {
      text_segment& segment = segments[k];
      if (segment.error) {
        text_position where = segment.error->where;
        where.line += lines_before;
        throw input_error(file, where, segment.error->what);
      }
      if (segment.first_nan && !out.first_nan) {
        out.first_nan = segment.first_nan;
        out.first_nan->line += lines_before;
      }
      lines_before += segment.lines;
      out.names.add(std::exchange(segment.names, {}));
    }
  }
  out.values = join_narrowest(segments, layout.cols, threads);
  return out;
}

}  // namespace gpu::io
