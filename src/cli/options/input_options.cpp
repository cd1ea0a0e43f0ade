// Options on how a table of text is laid out.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/option_groups.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::cli {
namespace {

/// The words of a list with commas, in which a word may stand in double quotes.
std::vector<std::string> words_of(const std::string& option, const std::string& list) {
  std::vector<std::string> words;
  io::field_cursor cursor(list, {.separator = ',', .merges = false});
  for (std::string_view word; cursor.next(word);) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (cursor.fault() != io::field_fault::none || words.empty()) {
    throw CLI::ValidationError(option, "got " + list + ", expected words with commas between them");
  }
  return words;
}

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& words,
              const std::string& description) {
  app.add_option_function<std::string>(
         name, [&words, name](const std::string& list) { words = words_of(name, list); },
         description)
      ->type_name("LIST")
      ->group("Input");
}

/// Of "11-20", "11-" or "11", counted from 1.
io::row_range rows_of(const std::string& text) {
  const auto number = [](std::string_view word) -> std::optional<index_t> {
    index_t out = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, status] = std::from_chars(word.data(), end, out);
    return status == std::errc() && stopped == end && out > 0 ? std::optional(out) : std::nullopt;
  };
  const std::string_view all = text;
  const std::size_t hyphen = all.find('-');
  const auto first = number(all.substr(0, hyphen));
  const bool is_open = hyphen + 1 == all.size();
  const auto last = hyphen == all.npos ? first : number(all.substr(hyphen + 1));
  if (first && is_open) return {.begin = *first - 1};
  if (first && last && *first <= *last) return {.begin = *first - 1, .end = *last};
  throw CLI::ValidationError("--rows",
                             "got " + text + ", expected rows counted from 1, as 1-1000, 11- or 7");
}

void add_delimiter(CLI::App& app, io::delimiter& separator) {
  const std::map<std::string, io::delimiter> known{{"auto", io::delimiter::automatic},
                                                   {"comma", io::delimiter::comma},
                                                   {",", io::delimiter::comma},
                                                   {"tab", io::delimiter::tab},
                                                   {"\t", io::delimiter::tab},
                                                   {"\\t", io::delimiter::tab},
                                                   {"semicolon", io::delimiter::semicolon},
                                                   {";", io::delimiter::semicolon},
                                                   {"bar", io::delimiter::bar},
                                                   {"|", io::delimiter::bar},
                                                   {"blanks", io::delimiter::blanks},
                                                   {" ", io::delimiter::blanks}};
  const auto take = [&separator, known](const std::string& word) {
    const auto found = known.find(word);
    if (found == known.end()) {
      throw CLI::ValidationError(
          "--delimiter", "got " + word +
                             ", expected auto, comma, tab, semicolon, bar or blanks, or the "
                             "character itself");
    }
    separator = found->second;
  };
  app.add_option_function<std::string>("--delimiter", take,
                                       "What separates the fields of a line [auto]")
      ->type_name("auto|comma|tab|semicolon|bar|blanks")
      ->group("Input");
}

}  // namespace

void add_text_options(CLI::App& app, io::text_options& text) {
  const names_of<io::choice> choices{
      {"auto", io::choice::automatic}, {"yes", io::choice::yes}, {"no", io::choice::no}};
  add_choice(app, "--header", text.header, choices, "Whether the first line names columns [auto]")
      ->group("Input");
  add_choice(app, "--row-names", text.row_names, choices,
             "Whether each line begins with a name [auto]")
      ->group("Input");
  add_delimiter(app, text.separator);
  add_choice<char>(app, "--decimal", text.decimal, {{".", '.'}, {",", ','}},
                   "What stands before the fraction of a number [.]")
      ->group("Input");
  app.add_option("--comment", text.comment, "Leave out lines that begin with TEXT")
      ->type_name("TEXT")
      ->group("Input");
  add_list(app, "--na-values", text.missing,
           "Words for a missing value, beside NA, NaN, N/A, null, a point and an empty field");
  add_list(app, "--columns", text.columns,
           "Columns of values, by number from 1 or by name; 3-8 and 4- are ranges [all]");
  add_list(app, "--skip-columns", text.skip_columns,
           "Columns that are not read, in the same words");
  app.add_option_function<std::string>(
         "--rows", [&text](const std::string& range) { text.rows = rows_of(range); },
         "Rows of the file that are read, counted from 1 without the header; 11- goes to the last "
         "[all]")
      ->type_name("FROM-TO")
      ->group("Input");
  app.add_option("--names-column", text.names_column,
                 "Which column names the rows, by number or by name [the first]")
      ->type_name("COLUMN")
      ->group("Input");
  app.add_option("--names", text.names_file,
                 "Names of rows that the file does not name, one a line [of matrix.mtx: "
                 "features.tsv or genes.tsv next to it]")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Input");
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
