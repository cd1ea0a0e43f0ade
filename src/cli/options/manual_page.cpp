#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <gpu/version.hpp>

#include "cli/options/help_texts.hpp"

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

/// Whether `v` has that option, with the same help.
bool has(const verb& v, const option& o) {
  return std::any_of(v.options.begin(), v.options.end(), [&](const option& other) {
    return other.title() == o.title() && other.help == o.help;
  });
}

/// The verb before `v` whose options it all has, where these are many; null: none.
const verb* model_of(const verb& v, const std::vector<const verb*>& all) {
  constexpr std::size_t many = 10;
  for (const verb* const other : all) {
    if (other == &v) break;
    if (other->options.size() >= many && std::all_of(other->options.begin(), other->options.end(),
                                                     [&](const option& o) { return has(v, o); })) {
      return other;
    }
  }
  return nullptr;
}

void add_verb(std::string& page, const verb& v, const verb* model) {
  std::string arguments;
  std::string options;
  for (const option& o : v.options) {
    if (o.is_argument()) arguments.append(" ").append(o.title());
    if (model != nullptr && has(*model, o)) continue;
    options += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(o.title()), escaped(o.help));
  }
  page += fmt::format(".SS \"gpu\\-similarity {}{}\"\n{}.\n", escaped(v.name), escaped(arguments),
                      escaped(v.description));
  if (model != nullptr) {
    page += fmt::format(".PP\nThe options of {}{}\n", escaped(model->name),
                        options.empty() ? "." : ", and:");
  }
  page += options;
  if (!v.footer.empty() && model == nullptr) {
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(v.footer));
  }
}

}  // namespace

std::string manual_page(const std::vector<const verb*>& verbs) {
  std::string page = fmt::format(
      ".TH GPU\\-SIMILARITY 1 \"\" \"gpu\\-similarity {}\" \"User Commands\"\n"
      ".SH NAME\ngpu\\-similarity \\- {}\n"
      ".SH SYNOPSIS\n\\fBgpu\\-similarity\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...] "
      "[\\fIINPUT\\fR]\n.br\n\\fBgpu\\-similarity help\\fR [\\fICOMMAND\\fR]\n"
      ".SH DESCRIPTION\nThe rows of a table are variables, its columns observations. INPUT is a "
      "file, or \\- for standard input.\n.SH COMMANDS\n",
      GPU_SIMILARITY_VERSION, escaped(command_text));
  for (const verb* const v : verbs) add_verb(page, *v, model_of(*v, verbs));
  page += fmt::format(".SH \"EXIT STATUS\"\n{}\n", escaped(exit_codes_text()));
  return page;
}

}  // namespace gpu::cli
