#include "io/read/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "io/read/number.hpp"

namespace gpu::io {
namespace {

struct numbered_line {
  std::string_view text;
  index_t number = 0;  // 0: there is none
};

/// The next line of `rest` that is not blank.
numbered_line take_line(std::string_view& rest, index_t& lines_before) {
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++lines_before;
    if (!line.empty()) return {line, lines_before};
  }
  return {};
}

std::vector<std::string_view> split(std::string_view line, const text_layout& layout) {
  std::vector<std::string_view> fields;
  field_cursor cursor(line, layout);
  for (std::string_view field; cursor.next(field);) fields.push_back(field);
  return fields;
}

/// Whether no field but perhaps the first is a number.
bool looks_like_header(const std::vector<std::string_view>& fields) {
  const auto begin = fields.size() == 1 ? fields.begin() : fields.begin() + 1;
  return std::none_of(begin, fields.end(), is_number);
}

void choose_separator(std::string_view line, text_layout& layout) {
  const auto has = [&](char c) { return line.find(c) != std::string_view::npos; };
  layout.separator = has('\t') ? '\t' : has(',') ? ',' : ' ';
  layout.merges = layout.separator == ' ';
}

/// Whether the first field of the first data line is a name. A header one field short, or with an
/// empty first field, leaves its place to the names (R's and pandas' habits).
bool names_rows(bool has_header, const std::vector<std::string_view>& head,
                const std::vector<std::string_view>& data) {
  if (!data.front().empty() && !is_number(data.front())) return true;
  return has_header && (head.size() + 1 == data.size() || head.front().empty());
}

/// Whether `c` is a control character, or perhaps the first byte of one.
bool is_rare(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7F || code == 0xC2;
}

}  // namespace

std::string cleaned_name(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
    name = name.substr(1, name.size() - 2);
  }
  if (std::none_of(name.begin(), name.end(), is_rare)) return std::string(name);
  std::string out(name);
  std::replace(out.begin(), out.end(), '\t', ' ');
  return printable(out);
}

text_layout find_layout(std::string_view text, choice header, choice row_names,
                        const std::string& file) {
  index_t lines_before = 0;
  const numbered_line first = take_line(text, lines_before);
  if (first.number == 0) throw input_error(file, {}, "the file is empty, expected rows of numbers");
  const numbered_line second = take_line(text, lines_before);

  text_layout layout;
  choose_separator(second.number == 0 ? first.text : second.text, layout);
  const std::vector<std::string_view> head = split(first.text, layout);
  layout.header = header == choice::automatic ? looks_like_header(head) : header == choice::yes;
  const numbered_line data_line = layout.header ? second : first;
  if (data_line.number == 0) {
    throw input_error(file, {first.number, 0},
                      fmt::format("got the header {} and no row of numbers", quoted(first.text)));
  }
  const std::vector<std::string_view> data = split(data_line.text, layout);
  layout.row_names = row_names == choice::automatic ? names_rows(layout.header, head, data)
                                                    : row_names == choice::yes;
  layout.cols = static_cast<index_t>(data.size()) - (layout.row_names ? 1 : 0);
  if (layout.cols == 0) {
    throw input_error(file, {data_line.number, 1},
                      fmt::format("got {}, expected numbers", quoted(data.front())));
  }
  if (layout.header && head.size() != data.size() &&
      !(layout.row_names && head.size() + 1 == data.size())) {
    throw input_error(file, {first.number, 0},
                      fmt::format("got a header of {} fields, but the first row has {}",
                                  head.size(), data.size()));
  }
  return layout;
}

column_names find_columns(std::string_view text, const text_layout& layout) {
  column_names out;
  if (!layout.header) return out;
  index_t lines_before = 0;
  const std::vector<std::string_view> head = split(take_line(text, lines_before).text, layout);
  const std::size_t above_names = head.size() - static_cast<std::size_t>(layout.cols);
  if (above_names > 0) out.corner = cleaned_name(head.front());
  for (std::size_t k = above_names; k < head.size(); ++k) {
    out.names.push_back(cleaned_name(head[k]));
  }
  return out;
}

}  // namespace gpu::io
