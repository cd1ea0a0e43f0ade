// Options on how a table of text is laid out.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parsed.hpp"
#include "cli/options/option_groups.hpp"
#include "io/json.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {
namespace {

void add_list(verb& v, const char* name, std::vector<std::string>& words, const char* help) {
  // A word may stand in double quotes.
  const auto take = [&words](const std::string& list) -> std::string {
    words.clear();
    io::field_cursor cursor(list, {.separator = ',', .merges = false});
    for (std::string_view word; cursor.next(word);) {
      if (!word.empty()) words.emplace_back(word);
    }
    if (cursor.fault() == io::field_fault::none && !words.empty()) return "";
    return "got " + list + ", expected words with commas between them";
  };
  v.add(name, take, help)->type_name("LIST")->of_reading()->said = [&words] {
    std::string out;
    for (const std::string& each : words) {
      out.append(out.empty() ? "" : ",").append(io::json_text(each));
    }
    return out;
  };
}

/// Of "11-20", "11-" or "11", counted from 1; nothing of another text.
std::optional<io::row_range> rows_of(std::string_view text) {
  const auto number = [](std::string_view word) {
    const auto out = gpu::detail::parsed<index_t>(word);
    return out && *out > 0 ? out : std::nullopt;
  };
  const std::size_t hyphen = text.find('-');
  const auto first = number(text.substr(0, hyphen));
  const bool is_open = hyphen + 1 == text.size();
  const auto last = hyphen == text.npos ? first : number(text.substr(hyphen + 1));
  if (first && is_open) return io::row_range{.begin = *first - 1};
  if (first && last && *first <= *last) return io::row_range{.begin = *first - 1, .end = *last};
  return std::nullopt;
}

void add_rows(verb& v, io::row_range& rows) {
  const auto take = [&rows](const std::string& text) -> std::string {
    const std::optional<io::row_range> range = rows_of(text);
    if (!range) return "got " + text + ", expected rows counted from 1, as 1-1000, 11- or 7";
    rows = *range;
    return "";
  };
  option* const added = v.add(
      "--rows", take,
      "Rows of the file that are read, counted from 1 without the header; 11- goes to the last "
      "[all]");
  added->type_name("FROM-TO")->of_reading()->said = [&rows] {
    return rows.is_all() ? "" : fmt::format("{}-{}", rows.begin + 1, rows.end);
  };
}

void add_delimiter(verb& v, io::delimiter& separator) {
  const auto take = [&separator](const std::string& given) -> std::string {
    constexpr auto characters = std::to_array<word<io::delimiter>>({{",", io::delimiter::comma},
                                                                    {"\t", io::delimiter::tab},
                                                                    {"\\t", io::delimiter::tab},
                                                                    {";", io::delimiter::semicolon},
                                                                    {"|", io::delimiter::bar},
                                                                    {" ", io::delimiter::blanks}});
    if (read_word(given, separator)) return "";
    for (const auto& [text, meant] : characters) {
      if (text != given) continue;
      separator = meant;
      return "";
    }
    return "got " + given +
           ", expected auto, comma, tab, semicolon, bar or blanks, or the character itself";
  };
  v.add("--delimiter", take, "What separates the fields of a line [auto]")
      ->type_name("auto|comma|tab|semicolon|bar|blanks")
      ->of_reading()
      ->said = [&separator] { return word_of(separator); };
}

}  // namespace

void add_text_options(verb& v, io::text_options& text) {
  v.heading = "Input";
  add_choice(v, "--header", text.header, "Whether the first line names columns [auto]")
      ->of_reading();
  add_choice(v, "--row-names", text.row_names, "Whether each line begins with a name [auto]")
      ->of_reading();
  add_delimiter(v, text.separator);
  add_choice(v, "--decimal", text.decimal, "Decimal mark [.]")->of_reading();
  v.add_option("--comment", text.comment, "Leave out lines that begin with TEXT")
      ->type_name("TEXT")
      ->of_reading();
  add_list(
      v, "--na-values", text.missing,
      "Further words for a missing value, besides NA, NaN, N/A, null, a point and an empty field");
  add_list(v, "--columns", text.columns,
           "Columns of values, by number from 1 or by name; 3-8 and 4- are ranges [all]");
  add_list(v, "--skip-columns", text.skip_columns, "Columns to leave out, by number or by name");
  add_rows(v, text.rows);
  v.add_option("--names-column", text.names_column,
               "Which column names the rows, by number or by name [the first]")
      ->type_name("COLUMN")
      ->of_reading();
  v.add_file("--names", text.names_file,
             "Names of rows that the file does not name, one a line [of matrix.mtx: "
             "features.tsv or genes.tsv next to it]");
}

void add_input(verb& v, job_files& c, const char* text) {
  v.add_file("INPUT", c.input, text, "")->required();
  add_text_options(v, c.text);
  v.heading = "Input";
  v.add_option("--transpose", c.transposes, "Take the columns of the file as rows: as variables")
      ->of_reading();
  add_bytes(v, "--max-input", c.max_input_bytes,
            "Refuse compressed input that unpacks to more bytes; K, M, G, T allowed [32G]");
}

std::string check_text_options(const io::text_options& text) {
  if (text.decimal == ',' && text.separator == io::delimiter::comma) {
    return "--decimal , does not go with --delimiter comma";
  }
  constexpr std::string_view no_begin = " \t\r\n\"";
  if (!text.comment.empty() && no_begin.find(text.comment.front()) != std::string_view::npos) {
    return fmt::format(
        "--comment: got \"{}\", expected a text that begins with neither a blank nor "
        "a quote",
        text.comment);
  }
  if (!text.names_column.empty() && text.row_names == io::choice::no) {
    return "--names-column does not go with --row-names no";
  }
  return "";
}

}  // namespace gpu::cli
