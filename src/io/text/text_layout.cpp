#include "io/text/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "io/text/names_signs.hpp"
#include "io/text/text_sample.hpp"

namespace gpu::io {
namespace {

void choose_separator(std::string_view line, field_rules& rules) {
  const auto has = [&](char c) { return line.find(c) != std::string_view::npos; };
  rules.separator = has('\t') ? '\t' : has(',') ? ',' : ' ';
  rules.merges = rules.separator == ' ';
}

/// Whether `c` is a control character, or perhaps the first byte of one.
bool is_rare(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7F || code == 0xC2;
}

/// The first few of `count` texts.
template <class TextOf>
std::string first_few(std::size_t count, const TextOf& text_of) {
  constexpr std::size_t few = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(count, few); ++i) {
    if (i > 0) out += ", ";
    out += quoted(text_of(i));
  }
  return count > few ? out + ", ..." : out;
}

std::string line_note(const sample_line& head, bool are_names) {
  const auto text_of = [&](std::size_t i) { return head.cells[i].text; };
  const std::string cells = first_few(head.cells.size(), text_of);
  return are_names ? fmt::format(
                         "line {} ({}) was taken for the names of the columns: --header no takes "
                         "it for a row, --header yes confirms this",
                         head.number, cells)
                   : fmt::format(
                         "line {} ({}) was taken for a row of values: --header yes takes it for "
                         "the names of the columns, --header no confirms this",
                         head.number, cells);
}

std::string column_note(const text_sample& sample, std::size_t first_row, bool are_names) {
  const auto text_of = [&](std::size_t i) { return sample[first_row + i].cells.front().text; };
  const std::string cells = first_few(sample.size() - first_row, text_of);
  const std::string label =
      first_row == 0 ? "" : fmt::format("{}: ", quoted(sample.front().cells.front().text));
  return are_names ? fmt::format(
                         "column 1 ({}{}) was taken for the names of the rows: --row-names no "
                         "takes it for values, --row-names yes confirms this",
                         label, cells)
                   : fmt::format(
                         "column 1 ({}{}) was taken for values: --row-names yes takes it for the "
                         "names of the rows, --row-names no confirms this",
                         label, cells);
}

column_names names_of(const sample_line& head, index_t cols) {
  column_names out;
  const std::size_t above_names = head.cells.size() - static_cast<std::size_t>(cols);
  if (above_names > 0) out.corner = cleaned_name(head.cells.front().text);
  for (std::size_t k = above_names; k < head.cells.size(); ++k) {
    out.names.push_back(cleaned_name(head.cells[k].text));
  }
  return out;
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

found_layout find_layout(std::string_view text, choice header, choice row_names,
                         const std::string& file) {
  text_sample sample = take_sample(text);
  if (sample.empty()) throw input_error(file, {}, "the file is empty, expected rows of numbers");
  found_layout found;
  text_layout& layout = found.layout;
  choose_separator(sample[sample.size() > 1 ? 1 : 0].text, layout);
  split_sample(sample, layout);

  const sample_line& head = sample.front();
  const name_sign line_sign = sign_of_first_line(sample);
  layout.header = header == choice::automatic ? line_sign.are_names : header == choice::yes;
  if (layout.header && sample.size() == 1) {
    throw input_error(file, {head.number, 0},
                      fmt::format("got the header {} and no row of numbers", quoted(head.text)));
  }
  const std::size_t first_row = layout.header ? 1 : 0;
  const sample_line& data = sample[first_row];
  const name_sign column_sign = sign_of_first_column(sample, first_row);
  layout.row_names =
      row_names == choice::automatic ? column_sign.are_names : row_names == choice::yes;
  layout.cols = static_cast<index_t>(data.cells.size()) - (layout.row_names ? 1 : 0);
  if (layout.cols == 0) {
    throw input_error(file, {data.number, 1},
                      fmt::format("got {}, expected numbers", quoted(data.cells.front().text)));
  }
  if (layout.header && head.cells.size() != data.cells.size() &&
      !(layout.row_names && head.cells.size() + 1 == data.cells.size())) {
    throw input_error(file, {head.number, 0},
                      fmt::format("got a header of {} fields, but the first row has {}",
                                  head.cells.size(), data.cells.size()));
  }
  found.rows_begin = layout.header ? head.end : head.begin;
  found.lines_before = layout.header ? head.number : head.number - 1;
  table_reading& reading = found.reading;
  if (layout.header) {
    found.columns = names_of(head, layout.cols);
    reading.columns_named_by = fmt::format("line {}", head.number);
  }
  if (layout.row_names) reading.rows_named_by = "column 1";
  if (header == choice::automatic && line_sign.is_doubtful) {
    reading.notes.push_back(line_note(head, layout.header));
  }
  if (row_names == choice::automatic && column_sign.is_doubtful) {
    reading.notes.push_back(column_note(sample, first_row, layout.row_names));
  }
  return found;
}

}  // namespace gpu::io
