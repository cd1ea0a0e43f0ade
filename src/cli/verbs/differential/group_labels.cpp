#include "cli/verbs/differential/group_labels.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/counted.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "io/columns/column_order.hpp"
#include "io/io_error.hpp"
#include "io/read/input.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {
namespace {

using complaint = std::function<void(const std::string& text)>;  // throws

std::vector<std::string> split(std::string_view text, char separator, const complaint& complain) {
  std::vector<std::string> out;
  io::field_cursor cursor(text, {.separator = separator, .merges = false});
  for (std::string_view field; cursor.next(field);) out.emplace_back(field);
  if (cursor.fault() != io::field_fault::none) complain(io::text_of(cursor.fault()));
  return out;
}

bool is_no_label(std::string_view label) {
  return label.empty() || label == "-" || label == "NA";
}

constexpr std::uint64_t most_bytes = 1'000'000'000;  // unpacked
constexpr std::size_t longest_line = 1'000'000;
constexpr std::size_t block_bytes = std::size_t{1} << 16;

class line_collector {
 public:
  line_collector(const std::string& path, index_t wanted) : path_(path), wanted_(wanted) {}

  /// Takes the next bytes of the file.
  void take(std::string_view text) {
    if ((bytes_ += text.size()) > most_bytes) {
      refuse(fmt::format("has more than {} bytes, expected a line for each of the {} columns",
                         most_bytes, wanted_));
    }
    for (;;) {
      const std::size_t end = text.find('\n');
      line_ += text.substr(0, end);
      if (line_.size() > longest_line) {
        refuse(fmt::format("line {} has more than {} bytes", number_ + 1, longest_line));
      }
      if (end == std::string_view::npos) return;
      end_line();
      text.remove_prefix(end + 1);
    }
  }

  [[nodiscard]] std::vector<std::string> all() {
    end_line();
    return std::move(lines_);
  }

 private:
  void end_line() {
    std::string line = std::exchange(line_, {});
    if (++number_ == 1) line = io::without_byte_order_mark(line);
    line.erase(line.find_last_not_of(" \r") + 1);  // a tab has an empty field behind it
    if (line.empty()) return;
    const index_t most = 2 * wanted_ + 100;  // what repeats in fewer is named by who looks at them
    if (std::ssize(lines_) == most) {
      refuse(fmt::format("has more than {} lines, expected at most one for each of the {} columns",
                         most, wanted_));
    }
    lines_.push_back(std::move(line));
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw io::input_error(path_, {}, text);
  }

  const std::string& path_;
  index_t wanted_;
  std::uint64_t bytes_ = 0;
  index_t number_ = 0;
  std::string line_;
  std::vector<std::string> lines_;
};

/// The lines of a file without their ends and without blank lines. The file is opened as a table
/// is: it may be compressed, and what cannot be read is an error. Memory: the lines, and some
/// hundred kilobytes; a line of more than a megabyte is refused, and so are more lines than twice
/// those that are wanted, and a file of more than a gigabyte.
/// @param wanted how many lines there are, at most, where all is right: one for each column
/// @throw io::input_error, io::interrupted
std::vector<std::string> lines_of_file(const std::string& path, index_t wanted) {
  io::input file(path, is_interrupted, most_bytes);
  const auto bytes = file.bytes();
  line_collector lines(path, wanted);
  std::string block(block_bytes, '\0');
  for (std::size_t got = block.size(); got == block.size();) {
    file.check_stop();
    got = bytes->read(block);
    lines.take(std::string_view(block).substr(0, got));
  }
  return lines.all();
}

// A label for each column.
std::vector<std::string> labels_in_order(const std::vector<std::string>& labels, index_t cols,
                                         const complaint& complain) {
  if (std::ssize(labels) != cols) {
    complain(fmt::format("got {}, expected one for each of the {} columns of numbers",
                         gpu::detail::counted(labels.size(), "label"), cols));
  }
  return labels;
}

// The same of lines with a name of a column and its label.
std::vector<std::string> labels_by_name(const std::vector<std::vector<std::string>>& lines,
                                        const io::column_names& columns,
                                        const complaint& complain) {
  if (!columns.given()) complain("got names of columns, but the table has no header");
  std::vector<std::string> names;
  names.reserve(lines.size());
  for (const auto& line : lines) names.push_back(line[0]);
  const io::name_match match = io::match_names(columns.names, names);
  if (match.repeated_in_wanted.is_there()) {
    complain(
        fmt::format("names columns, but the table has two that are named {}: give a label for "
                    "each column in order",
                    io::quoted(match.repeated_in_wanted.first)));
  }
  if (match.unknown.is_there()) {
    complain(fmt::format("got {}, which the table does not have", match.unknown.text()));
  }
  if (match.repeated_in_given.is_there()) {
    complain(fmt::format("names {} twice", match.repeated_in_given.text()));
  }
  if (match.missing.is_there()) {
    complain(fmt::format(
        "has no label for {}, expected one for each column, - for columns in neither group",
        match.missing.text()));
  }
  std::vector<std::string> out;
  out.reserve(match.place.size());
  for (const index_t k : match.place) out.push_back(lines[static_cast<std::size_t>(k)][1]);
  return out;
}

std::vector<std::string> labels_of_file(const std::string& path, index_t cols,
                                        const io::column_names& columns,
                                        const complaint& complain) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : lines_of_file(path, cols)) {
    lines.push_back(split(line, line.find('\t') != std::string::npos ? '\t' : ',', complain));
    if (lines.back().size() != lines.front().size() || lines.back().size() > 2) {
      complain(
          fmt::format("got {} in line {}, expected a label, or the name of a column "
                      "and its label, in every line",
                      gpu::detail::counted(lines.back().size(), "field"), lines.size()));
    }
  }
  if (!lines.empty() && lines.front().size() == 2) {
    return labels_by_name(lines, columns, complain);
  }
  std::vector<std::string> labels;
  labels.reserve(lines.size());
  for (auto& line : lines) labels.push_back(std::move(line[0]));
  return labels_in_order(labels, cols, complain);
}

}  // namespace

bool is_groups_file(const std::string& given) {
  std::error_code ignored;
  return given.find(',') == std::string::npos || std::filesystem::exists(given, ignored);
}

labelled_groups groups_of(const std::string& given, index_t cols, const io::column_names& columns) {
  const bool is_file = is_groups_file(given);
  std::error_code ignored;
  if (is_file && !std::filesystem::exists(given, ignored)) {
    throw io::input_error(given, {},
                          fmt::format("there is no such file; --groups is a file, or labels with "
                                      "commas between them, one for each of the {} columns",
                                      cols));
  }
  const complaint complain = [&](const std::string& text) {
    if (is_file) throw io::input_error(given, {}, text);
    throw usage_error("--groups: " + text);
  };
  const std::vector<std::string> labels =
      is_file ? labels_of_file(given, cols, columns, complain)
              : labels_in_order(split(given, ',', complain), cols, [&](const std::string& text) {
                  complain(text + "; there is no file of this name either");
                });
  labelled_groups out;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::string& label = labels[k];
    if (is_no_label(label)) continue;
    if (out.first.empty()) out.first_label = label;
    if (label == out.first_label) {
      out.first.push_back(static_cast<index_t>(k));
      continue;
    }
    if (out.second.empty()) out.second_label = label;
    if (label != out.second_label) {
      complain(fmt::format(
          "got a third group, {}, expected two ({} and {}), and - for columns in "
          "neither",
          io::quoted(label), io::quoted(out.first_label), io::quoted(out.second_label)));
    }
    out.second.push_back(static_cast<index_t>(k));
  }
  constexpr std::size_t least = 4;
  if (out.first.size() < least || out.second.size() < least) {
    complain(fmt::format("got groups of {} and {} columns, expected at least {} in each",
                         out.first.size(), out.second.size(), least));
  }
  return out;
}

}  // namespace gpu::cli
