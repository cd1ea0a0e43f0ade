#include "io/text/layout_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

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

}  // namespace

std::string line_note(const text_sample& sample, bool are_names) {
  const sample_line& head = sample.front();
  const auto text_at = [&](std::size_t i) { return head.cells[i].text; };
  const std::string what =
      fmt::format("line {} ({})", head.number, first_few(head.cells.size(), text_at));
  return are_names ? what +
                         " was taken for the names of the columns: --header no takes it for a row, "
                         "--header yes confirms this"
                   : what +
                         " was taken for a row of values: --header yes takes it for the names of "
                         "the columns, --header no confirms this";
}

std::string column_note(const text_sample& sample, std::size_t first_row, bool are_names) {
  const auto text_at = [&](std::size_t i) { return sample[first_row + i].cells.front().text; };
  const std::string cells = first_few(sample.size() - first_row, text_at);
  const std::string label =
      first_row == 0 ? "" : fmt::format("{}: ", quoted(sample.front().cells.front().text));
  const std::string what = fmt::format("column 1 ({}{})", label, cells);
  return are_names ? what +
                         " was taken for the names of the rows: --row-names no takes it for "
                         "values, --row-names yes confirms this"
                   : what +
                         " was taken for values: --row-names yes takes it for the names of the "
                         "rows, --row-names no confirms this";
}

}  // namespace gpu::io
