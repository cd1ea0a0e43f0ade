#include "cli/verbs/differential/group_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "cli/process/exit_code.hpp"
#include "cli/verbs/file_lines.hpp"
#include "io/io_error.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {
namespace {

using complaint = std::function<void(const std::string& text)>;  // throws

// A field without the blanks around it, and without quotes.
std::string_view unquoted(std::string_view field) {
  field = io::trimmed(field);
  const bool has_quotes = field.size() >= 2 && field.front() == '"' && field.back() == '"';
  return has_quotes ? field.substr(1, field.size() - 2) : field;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.emplace_back(unquoted(text.substr(0, end)));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool is_no_label(std::string_view label) {
  return label.empty() || label == "-" || label == "NA";
}

// A label for each column.
std::vector<std::string> labels_in_order(const std::vector<std::string>& labels, index_t cols,
                                         const complaint& complain) {
  if (std::ssize(labels) != cols) {
    complain(fmt::format("got {} labels, expected one for each of the {} columns of numbers",
                         labels.size(), cols));
  }
  return labels;
}

// The same of lines with a name of a column and its label.
std::vector<std::string> labels_by_name(const std::vector<std::vector<std::string>>& lines,
                                        index_t cols, const io::column_names& columns,
                                        const complaint& complain) {
  if (!columns.given()) complain("got names of columns, but the table has no header");
  std::unordered_map<std::string, std::size_t> places;
  for (const std::string& name : columns.names) {
    if (!places.emplace(name, places.size()).second) {
      complain(
          fmt::format("names columns, of which the table has two named {}: give a label for "
                      "each column in order",
                      io::quoted(name)));
    }
  }
  std::vector<std::string> out(static_cast<std::size_t>(cols));
  std::vector<char> is_named(out.size());  // 0 or 1
  for (const auto& line : lines) {
    const auto found = places.find(line[0]);
    if (found == places.end()) {
      complain(fmt::format("got column {}, which the table does not have", io::quoted(line[0])));
    }
    if (std::exchange(is_named[found->second], 1) != 0) {
      complain(fmt::format("names column {} twice", io::quoted(line[0])));
    }
    out[found->second] = line[1];
  }
  const auto unnamed = std::find(is_named.begin(), is_named.end(), 0);
  if (unnamed != is_named.end()) {
    const auto& name = columns.names[static_cast<std::size_t>(unnamed - is_named.begin())];
    complain(
        fmt::format("has no label for column {}, expected one for each column, - for those "
                    "in neither group",
                    io::quoted(name)));
  }
  return out;
}

std::vector<std::string> labels_of_file(const std::string& path, index_t cols,
                                        const io::column_names& columns,
                                        const complaint& complain) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : lines_of_file(path)) {
    lines.push_back(split(line, line.find('\t') != std::string::npos ? '\t' : ','));
    if (lines.back().size() != lines.front().size() || lines.back().size() > 2) {
      complain(
          fmt::format("got {} fields in line {}, expected a label, or the name of a column "
                      "and its label, in every line",
                      lines.back().size(), lines.size()));
    }
  }
  if (!lines.empty() && lines.front().size() == 2) {
    return labels_by_name(lines, cols, columns, complain);
  }
  std::vector<std::string> labels;
  labels.reserve(lines.size());
  for (auto& line : lines) labels.push_back(std::move(line[0]));
  return labels_in_order(labels, cols, complain);
}

}  // namespace

labelled_groups groups_of(const std::string& given, index_t cols, const io::column_names& columns) {
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(given, ignored);
  const complaint complain = [&](const std::string& text) {
    if (is_file) throw io::input_error(given, {}, text);
    throw usage_error("--groups: " + text);
  };
  const std::vector<std::string> labels = is_file
                                              ? labels_of_file(given, cols, columns, complain)
                                              : labels_in_order(split(given, ','), cols, complain);
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
