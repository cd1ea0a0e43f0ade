#include "io/text/text_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/text/integer_line.hpp"
#include "io/text/number.hpp"

namespace gpu::io {
namespace {

template <class T>
constexpr bool holds(std::int32_t smallest, std::int32_t largest) {
  return smallest >= std::numeric_limits<T>::min() && largest <= std::numeric_limits<T>::max();
}

}  // namespace

text_segment segment_reader::read(std::string_view lines) {
  segment_ = {};
  integer_count_ = 0;
  reals_.clear();
  is_real_ = false;
  // A field takes two characters at least, so this suffices for the fast path; one line more for
  // the last, which may end without a newline.
  const std::size_t most_values =
      lines.size() / 2 + static_cast<std::size_t>(layout_.cols + integer_line_slack);
  if (integers_.size() < most_values) integers_.resize(most_values);

  const char* line = lines.data();
  const char* const end = line + lines.size();
  // Lines that are not for the fast path come in runs; a run makes it pause.
  int misses = 0;
  index_t pause = 0;
  while (line < end && !segment_.error) {
    if (pause > 0) {
      --pause;
    } else if (const char* const next = is_real_ ? nullptr : read_fast(line, end)) {
      misses = 0;
      line = next;
      ++segment_.lines;
      continue;
    } else {
      constexpr int most_misses = 4;
      constexpr index_t longest_pause = 64;
      if (++misses >= most_misses) pause = longest_pause;
    }
    const std::string_view rest(line, static_cast<std::size_t>(end - line));
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    read_with_care(rest.substr(0, length));
    line += std::min(length + 1, rest.size());
  }
  store_values();
  return std::move(segment_);
}

/// Reads one line of small integers; null where it is not one.
const char* segment_reader::read_fast(const char* line, const char* end) {
  const char* const text_end = text_.data() + text_.size();
  if (text_end - line < integer_line_behind) return nullptr;
  const char* numbers = line;
  if (layout_.row_names) {
    const std::string_view rest(line, static_cast<std::size_t>(end - line));
    const std::size_t name_end = rest.find(layout_.separator);
    if (name_end == std::string_view::npos) return nullptr;
    // An empty name, or blanks in front of one.
    if (trimmed(rest.substr(0, name_end)).empty()) return nullptr;
    // A blank line, or one of a single field, has no separator: the one found is a later line's.
    if (rest.substr(0, name_end).find('\n') != std::string_view::npos) return nullptr;
    numbers = line + name_end + 1;
  }
  std::int32_t* const out = integers_.data() + integer_count_;
  const char* const next =
      layout_.merges
          ? read_integer_line<true>(numbers, text_end, layout_.separator, layout_.cols, out)
          : read_integer_line<false>(numbers, text_end, layout_.separator, layout_.cols, out);
  if (next == nullptr) return nullptr;
  if (layout_.row_names) {
    const auto length = static_cast<std::size_t>(numbers - 1 - line);
    segment_.names.add(cleaned_name(trimmed({line, length})));
  }
  integer_count_ += static_cast<std::size_t>(layout_.cols);
  ++segment_.rows;
  return next;
}

/// Reads one line of any kind.
void segment_reader::read_with_care(std::string_view line) {
  ++segment_.lines;
  field_cursor cursor(line, layout_);
  std::string_view field;
  index_t column = 0;
  index_t values = 0;
  while (cursor.next(field)) {
    ++column;
    if (layout_.row_names && column == 1) {
      if (field.empty()) {
        fail(1, "got an empty field, expected the name of the row");
        return;
      }
      segment_.names.add(cleaned_name(field));
    } else if (++values <= layout_.cols && !add(field, column)) {
      return;
    }
  }
  if (column == 0) return;  // blank
  if (values != layout_.cols) {
    fail(0, fmt::format("got {} numbers, expected {} as in the first row", values, layout_.cols));
    return;
  }
  ++segment_.rows;
}

bool segment_reader::add(std::string_view field, index_t column) {
  const number value = parse_number(field);
  if (value.kind == number_kind::integer) {
    if (!is_real_ && std::in_range<std::int32_t>(value.integer)) {
      integers_[integer_count_++] = static_cast<std::int32_t>(value.integer);
    } else {
      add_real(static_cast<double>(value.integer));
    }
    return true;
  }
  if (value.kind == number_kind::real) {
    if (std::isnan(value.real) && !segment_.first_nan) {
      segment_.first_nan = input_position{segment_.lines, column};
    }
    add_real(value.real);
    return true;
  }
  if (value.kind == number_kind::overflow) {
    fail(column, fmt::format("got {}, expected an integer up to 2^53 in magnitude or a real number "
                             "in the range of double",
                             quoted(field)));
  } else if (field.empty()) {
    fail(column, "got an empty field, expected a number (NA where there is none)");
  } else {
    fail(column, fmt::format("got {}, expected a number", quoted(field)));
  }
  return false;
}

void segment_reader::add_real(double value) {
  if (!is_real_) {
    reals_.assign(integers_.begin(),
                  integers_.begin() + static_cast<std::ptrdiff_t>(integer_count_));
    is_real_ = true;
  }
  reals_.push_back(value);
}

void segment_reader::fail(index_t column, std::string what) {
  segment_.error = segment_error{{segment_.lines, column}, std::move(what)};
}

/// Moves what was collected to the segment, in the narrowest type.
void segment_reader::store_values() {
  if (is_real_) {
    const std::span<double> stored = arena_.take<double>(reals_.size());
    std::copy(reals_.begin(), reals_.end(), stored.begin());
    segment_.values = stored;
    return;
  }
  const auto begin = integers_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(integer_count_);
  std::int32_t smallest = 0;
  std::int32_t largest = 0;
  for (auto value = begin; value != end; ++value) {
    smallest = std::min(smallest, *value);
    largest = std::max(largest, *value);
  }
  segment_.smallest = smallest;
  segment_.largest = largest;
  const auto store = [&]<class T>(T) {
    const std::span<T> narrow = arena_.take<T>(integer_count_);
    std::transform(begin, end, narrow.begin(), [](std::int32_t v) { return static_cast<T>(v); });
    segment_.values = narrow;
  };
  if (holds<std::int8_t>(smallest, largest)) {
    store(std::int8_t{});
  } else if (holds<std::uint8_t>(smallest, largest)) {
    store(std::uint8_t{});
  } else if (holds<std::int16_t>(smallest, largest)) {
    store(std::int16_t{});
  } else if (holds<std::uint16_t>(smallest, largest)) {
    store(std::uint16_t{});
  } else {
    store(std::int32_t{});
  }
}

}  // namespace gpu::io
