#include "io/read/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "io/read/row_choice.hpp"
#include "io/text/text_sample.hpp"
#include "io/text/value_arena.hpp"

namespace gpu::io {

/// The values of one block of text.
struct block_values {
  value_arena arena;
  std::vector<text_segment> segments;
};

/// What is known of a whole table.
struct value_range {
  index_t rows = 0;
  std::int32_t smallest = 0;
  std::int32_t largest = 0;
  index_t missing = 0;
  bool has_reals = false;

  void include(const text_segment& segment) {
    rows += segment.rows;
    missing += segment.missing;
    smallest = std::min(smallest, segment.smallest);
    largest = std::max(largest, segment.largest);
    has_reals = has_reals || std::holds_alternative<std::span<double>>(segment.values);
  }
};

namespace {

constexpr std::size_t npos = std::string_view::npos;

// A segment's values stay in the second-level cache between reading and narrowing.
constexpr std::size_t segment_bytes = std::size_t{256} << 10;

index_t lines_in(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// Bytes of the blank lines that `text` begins with: such as are blank whatever separates fields.
std::size_t blank_line_bytes(std::string_view text) {
  const std::size_t behind = std::min(text.find_first_not_of(" \r\n"), text.size());
  return text.substr(0, behind).rfind('\n') + 1;  // npos + 1 is 0
}

/// The start of the first line at or behind `position`.
std::size_t line_start(std::string_view text, std::size_t position) {
  if (position == 0) return 0;
  const std::size_t newline = text.find('\n', position - 1);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

/// Where the segments of `block` begin, and the end of the last. Records end at line breaks that
/// are not in quotes; to know these, everything in front of them has to be looked at.
std::vector<std::size_t> segment_bounds(std::string_view block, const text_layout& layout,
                                        record_breaks breaks) {
  std::vector<std::size_t> bounds{0};
  if (breaks == record_breaks::every_line) {
    for (std::size_t at = segment_bytes; at < block.size(); at += segment_bytes) {
      bounds.push_back(line_start(block, at));
    }
  } else {
    for (std::size_t at = 0; at < block.size();) {
      at = std::min(record_end(block, at, layout), block.size() - 1) + 1;
      if (at - bounds.back() >= segment_bytes && at < block.size()) bounds.push_back(at);
    }
  }
  bounds.push_back(block.size());
  return bounds;
}

/// Reads one block by all threads.
block_values read_block(std::string_view block, const text_layout& layout, record_breaks breaks,
                        int threads) {
  const std::vector<std::size_t> bounds = segment_bounds(block, layout, breaks);
  const std::size_t count = bounds.size() - 1;
  // One character a value at least, but for the last of each segment.
  const std::size_t most_bytes = (block.size() + count) * segment_reader::most_value_bytes;
  block_values out{value_arena(value_arena::capacity_for(most_bytes, count)),
                   std::vector<text_segment>(count)};
  std::atomic<std::size_t> stop_at{count};  // behind a bad line nothing needs reading
  detail::parallel_for_with(
      static_cast<index_t>(count), threads,
      [&](int) { return segment_reader(block, layout, breaks, out.arena); },
      [&](segment_reader& reader, index_t segment) {
        const auto k = static_cast<std::size_t>(segment);
        if (k > stop_at.load(std::memory_order_relaxed)) return;
        const std::string_view lines = block.substr(bounds[k], bounds[k + 1] - bounds[k]);
        if (blank_line_bytes(lines) == lines.size()) {
          out.segments[k].lines = lines_in(lines);
        } else {
          out.segments[k] = reader.read(lines);
        }
        if (out.segments[k].error) stop_at = std::min(stop_at.load(), k);
      });
  out.arena.trim();
  return out;
}

/// Joins the blocks to a matrix of T, giving back each one's memory as soon as it is copied.
template <class T>
matrix<T> join(std::deque<block_values>& blocks, index_t rows, index_t cols, int threads) {
  matrix<T> out(rows, cols);
  prefer_large_pages(out.data(), static_cast<std::size_t>(rows * cols) * sizeof(T));
  index_t block_row = 0;
  for (; !blocks.empty(); blocks.pop_front()) {
    std::vector<text_segment>& segments = blocks.front().segments;
    std::vector<index_t> first_row(segments.size());
    for (std::size_t k = 0; k < segments.size(); ++k) {
      first_row[k] = std::exchange(block_row, block_row + segments[k].rows);
    }
    detail::parallel_for(std::ssize(segments), threads, [&](index_t segment, int) {
      const auto k = static_cast<std::size_t>(segment);
      T* const target = out.data() + first_row[k] * cols;
      const auto copy = [target](const auto& values) {
        std::transform(values.begin(), values.end(), target,
                       [](auto v) { return static_cast<T>(v); });
      };
      std::visit(copy, segments[k].values);
    });
  }
  return out;
}

any_matrix join_narrowest(std::deque<block_values>& blocks, const value_range& range, index_t cols,
                          int threads) {
  if (range.has_reals) return join<double>(blocks, range.rows, cols, threads);
  return with_narrowest(range.smallest, range.largest, [&]<class T>(T) -> any_matrix {
    return join<T>(blocks, range.rows, cols, threads);
  });
}

}  // namespace

text_rows::text_rows(std::unique_ptr<line_source> source, const read_options& options,
                     const std::string& file)
    : source_(std::move(source)),
      file_(file),
      threads_(detail::thread_count(options.threads)),
      chosen_(options.text.rows) {
  take_sample_lines();
  const std::string_view text = block_;
  has_returns_alone_ = text.find('\r') < text.size() && text.find('\n') == npos;
  found_layout found = layout_of(text, options.text);
  layout_ = std::move(found.layout);
  facts_ = {.cols = layout_.cols,
            .names_rows = layout_.row_names,
            .columns = std::move(found.columns),
            .reading = std::move(found.reading)};
  lines_before_ = found.lines_before;
  block_ = text.substr(found.rows_begin);
  // A block without text would say that there is no more.
  if (block_.empty()) take_block();
  const bool may_be_header = options.text.header == choice::automatic && !columns().given();
  if (may_be_header) may_be_header_ = lines_before_ + 1;
}

found_layout text_rows::layout_of(std::string_view text, const text_options& options) const {
  try {
    return find_layout(text, options, file_);
  } catch (const input_error& error) {
    if (has_returns_alone_) refuse_returns(error.where());
    throw;
  }
}

/// What is wrong with such a file is where its lines end, whatever was found in its only line.
void text_rows::refuse_returns(input_position where) const {
  throw input_error(file_, where,
                    "got lines that end with only a carriage return, expected line feeds: tr "
                    "'\\r' '\\n' < FILE | gpu-similarity ... -");
}

/// Leaves the record that the block cuts to the next block.
void text_rows::keep_whole_records() {
  for (;;) {
    std::size_t whole = 0;
    std::size_t end = 0;
    while (whole < block_.size() && (end = record_end(block_, whole, layout_)) != npos) {
      whole = std::min(end + 1, block_.size());
    }
    if (whole == block_.size()) return;
    if (whole > 0) {
      carried_ = block_.substr(whole);
      block_ = block_.substr(0, whole);
      return;
    }
    // One record, open to the end; where it stays so, reading it says what is wrong.
    if (block_.size() > 2 * most_quoted_bytes) return;
    const std::size_t before = block_.size();
    carried_ = block_;
    take_block();
    if (block_.size() == before) return;
  }
}

/// Leaves out of the block that is there the rows that are not chosen.
void text_rows::leave_rows_out() {
  if (chosen_.is_all()) return;
  keep_whole_records();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < block_.size();) {
    const std::size_t end = std::min(record_end(block_, at, layout_), block_.size());
    const std::size_t next = std::min(end + 1, block_.size());
    const std::string_view record = block_.substr(at, end - at);
    if (!is_blank_line(record, layout_) && !is_comment(record, layout_)) {
      if (seen_ == chosen_.end) {
        is_behind_ = true;
        block_ = block_.substr(0, at);
        break;
      }
      ++seen_;
    }
    if (seen_ <= chosen_.begin) begin = next;
    at = next;
  }
  lines_before_ += lines_in(block_.substr(0, begin));
  block_.remove_prefix(begin);
}

/// Asks for the next block, behind what the last one left.
void text_rows::take_block() {
  if (is_behind_) {
    // What follows is not looked at, but the digest of the file has it.
    while (!source_->next().empty()) {
    }
    block_ = {};
    return;
  }
  const std::string_view next = source_->next();
  if (carried_.empty()) {
    block_ = next;
    return;
  }
  std::string joined = std::move(carried_);
  joined += next;
  carried_.clear();
  joined_ = std::move(joined);
  block_ = joined_;
}

/// Asks for blocks until the lines are there that tell the layout.
void text_rows::take_sample_lines() {
  block_ = without_byte_order_mark(source_->next());
  while (!block_.empty() && !holds_sample(block_)) {
    if (sample_.empty()) sample_ = block_;
    const std::string_view more = source_->next();
    sample_ += more;
    block_ = sample_;
    if (more.empty()) return;
  }
}

/// Whether the first thing that is wrong with `read` is a line break in quotes, which was taken for
/// the end of a record.
bool text_rows::has_breaks_in_quotes(const block_values& read) {
  for (const text_segment& segment : read.segments) {
    if (segment.error) return segment.error->is_open_quote;
  }
  return false;
}

/// Reads the block that is there. Lines are taken for records until one is none: to look for quotes
/// in front of every line would take as long as reading plain numbers.
block_values text_rows::read_records() {
  leave_rows_out();
  if (breaks_ == record_breaks::every_line) {
    block_values read = read_block(block_, layout_, breaks_, threads_);
    if (!has_breaks_in_quotes(read)) return read;
    breaks_ = record_breaks::outside_quotes;
  }
  keep_whole_records();
  return read_block(block_, layout_, breaks_, threads_);
}

/// " in column 'age'" of a field counted from 1, where the header names it.
std::string text_rows::column_text(index_t field) const {
  if (!columns().given() || layout_.role(field) != field_role::value) return "";
  std::size_t values = 0;
  for (index_t before = 1; before < field; ++before) {
    if (layout_.role(before) == field_role::value) ++values;
  }
  if (values >= columns().names.size() || columns().names[values].empty()) return "";
  return fmt::format(" in column {}", quoted(columns().names[values]));
}

/// What else a field that is not a number may be: a name, where the rule of names decided.
std::string text_rows::other_readings(input_position where) const {
  std::string out;
  if (where.column == 1 && layout_.may_name_rows && layout_.role(1) == field_role::value) {
    out += "; --row-names yes takes column 1 for the names of the rows";
  }
  if (where.line == may_be_header_) {
    out += fmt::format("; --header yes takes line {} for the names of the columns", where.line);
  }
  return out;
}

/// Reads the block that is there, adds what is known of it, and asks for the next one.
block_values text_rows::read_lines(value_range& range, table& out) {
  block_values read = read_records();
  for (text_segment& segment : read.segments) {
    if (segment.error) {
      input_position where = segment.error->where;
      where.line += lines_before_;
      if (has_returns_alone_) refuse_returns(where);
      const std::string& behind = segment.error->behind;
      throw input_error(file_, where,
                        behind.empty() ? segment.error->what
                                       : segment.error->what + column_text(where.column) + behind +
                                             other_readings(where));
    }
    if (segment.first_nan && !out.first_nan) {
      out.first_nan = segment.first_nan;
      out.first_nan->line += lines_before_;
    }
    lines_before_ += segment.lines;
    range.include(segment);
    out.names.add(std::exchange(segment.names, {}));
  }
  take_block();
  return read;
}

std::optional<table> text_rows::next() {
  while (!block_.empty()) {
    table out;
    std::deque<block_values> blocks;
    value_range range;
    blocks.push_back(read_lines(range, out));
    if (range.rows == 0) continue;  // blank lines
    out.columns = columns();
    out.reading = reading();
    rows_ += range.rows;
    out.missing = range.missing;
    out.values = join_narrowest(blocks, range, layout_.cols, threads_);
    return out;
  }
  check_rows();
  return std::nullopt;
}

/// The file may have said how many rows it has.
void text_rows::check_rows() const {
  if (!chosen_.is_all()) {
    check_row_range(chosen_, seen_, is_behind_, file_);
    return;
  }
  if (!layout_.rows || *layout_.rows == rows_) return;
  throw input_error(file_, {2, 0},
                    fmt::format("got {}, expected the {} that this line says",
                                gpu::detail::counted(rows_, "row"), *layout_.rows));
}

table text_rows::rest() {
  table out;
  std::deque<block_values> blocks;
  value_range range;
  while (!block_.empty()) blocks.push_back(read_lines(range, out));
  rows_ += range.rows;
  check_rows();
  out.missing = range.missing;
  out.columns = columns();
  out.reading = reading();
  out.values = join_narrowest(blocks, range, layout_.cols, threads_);
  return out;
}

}  // namespace gpu::io
