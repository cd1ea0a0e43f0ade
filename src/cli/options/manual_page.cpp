#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/options/command_pages.hpp"
#include "cli/options/option_table.hpp"

namespace gpu::cli {
namespace {

/// Text as troff has it: no line begins with a control character, hyphens stay hyphens.
std::string escaped(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// The verb before `verb` whose options it all has, where these are many; nullptr: none.
const verb_entry* model_of(const verb_entry& verb, const std::vector<verb_entry>& all) {
  constexpr std::size_t many = 10;
  for (const verb_entry& other : all) {
    if (&other == &verb) return nullptr;
    const auto is_shared = [&](const option_entry& option) {
      return std::find(verb.options.begin(), verb.options.end(), option) != verb.options.end();
    };
    if (other.options.size() >= many &&
        std::all_of(other.options.begin(), other.options.end(), is_shared)) {
      return &other;
    }
  }
  return nullptr;
}

void add_option(std::string& page, const option_entry& option) {
  page +=
      fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(option.title()), escaped(option.description));
}

void add_verb(std::string& page, const verb_entry& verb, const std::vector<verb_entry>& all) {
  std::string positional;
  for (const option_entry& option : verb.options) {
    if (option.is_positional) positional += " " + option.names.front();
  }
  page += fmt::format(".SS \"gpu\\-similarity {}{}\"\n{}.\n", escaped(verb.name),
                      escaped(positional), escaped(verb.description));
  const verb_entry* const model = model_of(verb, all);
  if (model != nullptr) page += fmt::format(".PP\nThe options of {}", escaped(model->name));
  bool has_more = false;
  for (const option_entry& option : verb.options) {
    const bool is_known =
        model != nullptr &&
        std::find(model->options.begin(), model->options.end(), option) != model->options.end();
    if (is_known) continue;
    if (model != nullptr && !has_more) page += ", and:\n";
    has_more = true;
    add_option(page, option);
  }
  if (model != nullptr && !has_more) page += ".\n";
  if (!verb.footer.empty() && model == nullptr) {
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(verb.footer));
  }
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::vector<verb_entry> verbs = verbs_of(app);
  std::string page = fmt::format(
      ".TH GPU\\-SIMILARITY 1 \"\" \"gpu\\-similarity {}\" \"User Commands\"\n"
      ".SH NAME\ngpu\\-similarity \\- {}\n"
      ".SH SYNOPSIS\n\\fBgpu\\-similarity\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...] "
      "[\\fIINPUT\\fR]\n.br\n\\fBgpu\\-similarity help\\fR [\\fICOMMAND\\fR]\n"
      ".SH DESCRIPTION\nThe rows of a table are variables, its columns observations. INPUT is a "
      "file, or \\- for standard input.\n.SH COMMANDS\n",
      version, escaped(app.get_description()));
  for (const verb_entry& verb : verbs) add_verb(page, verb, verbs);
  page += fmt::format(".SH \"EXIT STATUS\"\n{}\n", escaped(app.get_footer()));
  return page;
}

}  // namespace gpu::cli
