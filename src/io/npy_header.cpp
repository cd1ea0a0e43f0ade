#include "io/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace gpu::io {
namespace {

constexpr std::size_t preamble_bytes = 10;  // magic, version 1.0, two bytes of length

/// Walks over the text of a header. Each take_ function moves behind what it names, or returns
/// false or nothing where something else stands there.
class header_cursor {
 public:
  explicit header_cursor(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return rest_.empty();
  }
  std::optional<std::string_view> take_string() {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> take_truth() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  std::optional<index_t> take_extent() {
    skip_blanks();
    index_t extent = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stopped, status] = std::from_chars(rest_.data(), end, extent);
    if (status != std::errc{} || extent < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(stopped - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
    return extent;
  }
  /// A list. Only its end matters.
  bool take_list() {
    int depth = 0;
    do {
      if (take('[') || take('(')) {
        ++depth;
      } else if (take(']') || take(')')) {
        --depth;
      } else if (!take_string() && !take(',') && !take_extent()) {
        return false;
      }
    } while (depth > 0);
    return depth == 0;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  std::string_view rest_;
};

std::optional<std::vector<index_t>> take_shape(header_cursor& cursor) {
  if (!cursor.take('(')) return std::nullopt;
  std::vector<index_t> shape;
  while (!cursor.take(')')) {
    if (!shape.empty() && !cursor.take(',')) return std::nullopt;
    if (!shape.empty() && cursor.take(')')) break;
    const auto extent = cursor.take_extent();
    if (!extent) return std::nullopt;
    shape.push_back(*extent);
  }
  return shape;
}

/// The entries of a header as far as they are known.
struct header_entries {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<index_t>> shape;
};

/// Takes the value of `key`, once; false where it is none, or the key is unknown.
bool take_value(std::string_view key, header_cursor& cursor, header_entries& entries) {
  if (key == "descr" && !entries.descr) {
    const auto text = cursor.take_string();
    entries.descr = std::string(text.value_or(""));
    return text ? !text->empty() : cursor.take_list();
  }
  if (key == "fortran_order" && !entries.fortran_order) {
    entries.fortran_order = cursor.take_truth();
    return entries.fortran_order.has_value();
  }
  if (key == "shape" && !entries.shape) {
    entries.shape = take_shape(cursor);
    return entries.shape.has_value();
  }
  return false;
}

}  // namespace

std::optional<npy_header> parse_npy_header(std::string_view text) {
  header_cursor cursor(text);
  header_entries entries;
  if (!cursor.take('{')) return std::nullopt;
  for (bool is_first = true; !cursor.take('}'); is_first = false) {
    if (!is_first && !cursor.take(',')) return std::nullopt;
    if (!is_first && cursor.take('}')) break;
    const auto key = cursor.take_string();
    if (!key || !cursor.take(':') || !take_value(*key, cursor, entries)) return std::nullopt;
  }
  if (!cursor.is_at_end() || !entries.descr || !entries.fortran_order || !entries.shape) {
    return std::nullopt;
  }
  return npy_header{*entries.descr, *entries.fortran_order, *entries.shape};
}

std::string make_npy_header(std::string_view descr, const std::vector<index_t>& shape,
                            std::size_t bytes) {
  const std::string extents = shape.size() == 1 ? fmt::format("{},", shape.front())
                                                : fmt::format("{}", fmt::join(shape, ", "));
  const std::string dictionary =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", descr, extents);
  const std::size_t length = bytes - preamble_bytes;
  if (dictionary.size() + 1 > length) {
    throw std::logic_error("make_npy_header: the header needs more room");
  }
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(length & 0xFF);
  out += static_cast<char>(length >> 8);
  out += dictionary;
  out.append(length - dictionary.size() - 1, ' ');
  out += '\n';
  return out;
}

}  // namespace gpu::io
