#include "cli/options/help_texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/measure.hpp>
#include <gpu/version.hpp>

namespace gpu::cli {
namespace {

/// What a measure's test adds to the columns of a result.
std::string_view test_columns(significance test) {
  switch (test) {
    case significance::none:
      break;
    case significance::student_t:
    case significance::floored_t:
      return ", t, p";
    case significance::kendall:
    case significance::permutations:
      return ", p";
  }
  return "";
}

/// Of all verbs that compute pairs; `call` is the verb with what it needs.
std::string pair_text(std::string_view call, const measure_info& info) {
  const bool has_p = info.test != significance::none;
  const std::string statistic = fmt::format("{}{}", info.symbol, test_columns(info.test));
  const std::string columns = fmt::format("{}{}", statistic, has_p ? ", and q with --adjust" : "");
  const std::string cut = has_p ? "--max-p 0.05 --adjust bh" : "--min-abs 0.9";
  return fmt::format(
      "Columns of the result, after a header line:\n"
      "  edges         name_i, name_j, {0}\n"
      "  top-k         name_i, rank, name_j, {0}\n"
      "  counts        name, degree\n"
      "  dense         names, then each row after its name\n"
      "With --nan pairwise, --observations adds n after p: the columns that a pair shares;\n"
      "for dense, --observations-output FILE writes a matrix of them.\n\n"
      "Examples:\n"
      "  gpu-similarity {1} expression.tsv {2} -o edges.tsv\n"
      "  gpu-similarity {1} expression.csv.gz --keep top-k -k 5 -o partners.csv\n"
      "  gpu-similarity {1} samples.csv --transpose --keep dense -o matrix.npy\n"
      "  gpu-similarity {1} matrix.mtx.gz {2} -o edges.tsv\n"
      "  gpu-similarity {1} genes.tsv --against proteins.tsv --min-abs 0.8\n"
      "  gpu-similarity {1} expression.tsv {2} -o edges.tsv.gz --resume",
      columns, call, cut);
}

}  // namespace

std::string exit_codes_text() {
  return "Exit codes: 0 done, 1 parts --check: parts are missing, 2 wrong usage, 3 bad input, 4 "
         "memory, device or disk, 130 "
         "interrupted, 143 terminated, 141 nobody reads the result.";
}

std::string examples_text(std::string_view verb) {
  for (const measure what : all_measures()) {
    const measure_info& info = info_of(what);
    if (verb == info.name) return pair_text(info.name, info);
  }
  if (verb == "correlate")
    return pair_text("correlate --measure pearson", info_of(measure::pearson));
  for (const measure what : bit_measures()) {
    if (verb != to_string(what)) continue;
    return fmt::format(
        "Columns of the result, after a header line:\n"
        "  edges         name_i, name_j, {0}\n"
        "  top-k         name_i, rank, name_j, {0}\n"
        "  counts        name, degree\n"
        "  dense         names, then each row after its name\n\n"
        "Examples:\n"
        "  gpu-similarity {0} molecules.fps.gz --threshold 0.7 -o near.tsv\n"
        "  gpu-similarity {0} queries.fps --against molecules.fps --keep top-k -k 5\n"
        "  gpu-similarity {0} bits.npy -t 0.8 -o network.tsv\n"
        "  gpu-similarity {0} molecules.fps -t 0.6 -o near.tsv.gz --resume",
        verb);
  }
  if (verb == "rank") {
    return "The result has the header and the names of the input, and ranks instead of values.\n\n"
           "Examples:\n"
           "  gpu-similarity rank expression.tsv -o ranks.tsv\n"
           "  gpu-similarity rank scores.txt --order descending --ties min";
  }
  if (verb == "modules") {
    return "Columns of the result: name, and module from 1 on, the largest first. Every name of "
           "the "
           "table\nhas a module, also one of its own.\n\n"
           "Examples:\n"
           "  gpu-similarity modules edges.tsv -o modules.tsv\n"
           "  gpu-similarity modules edges.tsv.gz --min-abs 0.9";
  }
  if (verb == "top-k") {
    return "Columns of the result: name, rank, column, value, and count with --distinct; of a "
           "column of\nnumbers rank, position, value.\n\n"
           "Examples:\n"
           "  gpu-similarity top-k counts.txt -k 5\n"
           "  gpu-similarity top-k counts.txt -k 5 --distinct -o most.tsv";
  }
  if (verb == "mean-filter") {
    return "The result has the header and the names of the input, and means instead of values.\n\n"
           "Examples:\n"
           "  gpu-similarity mean-filter signal.txt --window 101 -o smooth.npy\n"
           "  gpu-similarity mean-filter signals.csv --window 5 --nan omit --boundary shrink";
  }
  if (verb == "differential") {
    return "Columns of the result, after a header line:\n"
           "  edges   name_i, name_j, the statistic of each group, z, p, and q with --adjust\n"
           "  top-k   name_i, rank, name_j, then the same\n"
           "  counts  name, degree\n\n"
           "Examples:\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --adjust bh\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --keep top-k -k 3\n"
           "  gpu-similarity differential small.csv --groups a,a,a,a,b,b,b,b,- --measure spearman\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --part 3/8 "
           "--output-dir job\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv -o pairs.tsv.gz "
           "--resume";
  }
  if (verb == "soft-threshold") {
    return "Columns of the result:\n"
           "  fit           Power, SFT.R.sq, slope, truncated.R.sq, mean.k., median.k., max.k.\n"
           "  connectivity  name, then a column for each power\n"
           "\n"
           "Examples:\n"
           "  gpu-similarity soft-threshold expression.tsv --network signed -o fit.tsv\n"
           "  gpu-similarity soft-threshold expression.tsv --powers 6 --keep connectivity";
  }
  if (verb == "parts") {
    return "Examples:\n"
           "  gpu-similarity parts DIR\n"
           "  sbatch --array=$(gpu-similarity parts DIR --format slurm) job.sh\n"
           "  gpu-similarity parts DIR --clean";
  }
  if (verb == "merge") {
    return "Examples:\n"
           "  gpu-similarity merge DIR -o edges.tsv";
  }
  if (verb == "completion") {
    return "Examples:\n"
           "  source <(gpu-similarity completion bash)\n"
           "  gpu-similarity completion zsh > ~/.zfunc/_gpu-similarity";
  }
  return "";
}

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

namespace {

/// Reads the help of the command, or of a verb: a line for each verb, argument and option, with its
/// names, its value (- where it has none) and a short text.
constexpr const char* read_help = R"sh(awk '
  /^[A-Z].*:$/ { part = $0 }
  name != "" && /^          / { show($0); next }
  /^  [^ ]/ && (/^  -/ || part == "Subcommands:" || part == "Positionals:") {
    name = $1
    rest = substr($0, 3 + length(name))
    value = rest ~ /^ [^ ]/ && $2 != "Excludes:" ? $2 : "-"
    if (match(rest, /  +/)) show(substr(rest, RSTART))
  }
  function show(text) {
    sub(/^ +/, "", text)
    sub(/( \[|;).*/, "", text)
    print name "\t" value "\t" text
    name = ""
  }')sh";

constexpr const char* bash_script = R"sh(
_gpu_similarity() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb=${COMP_WORDS[1]} names value text how=-f words=
  # --option=value is three words.
  if [ "$current" = = ]; then
    current=
  elif [ "$before" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ] || [ "$verb" = help ]; then
    verb= how=-W words='help --help --version'
  fi
  while IFS=$'\t' read -r names value text; do
    case $verb:$names in
      :-*) continue ;;
      :*) words+=" $names"; continue ;;
      *:-*) [[ $current == -* ]] && how=-W words+=" ${names//,/ }" ;;
    esac
    if [[ $names == -* && ( $value == - || ,$names, != *",$before,"* ) ]]; then continue; fi
    case $value in
      *\|*) how=-W words=${value//|/ } ;;
      FILE) how=-f ;;
      DIR) how=-d ;;
      *) [[ $names != -* ]] || how=-W words= ;;
    esac
    [[ $names != -* ]] || break
  done < <("${COMP_WORDS[0]}" $verb --help 2> /dev/null | _gpu_similarity_help)
  if [ "$how" = -W ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen "$how" -- "$current"))
  fi
}
complete -o filenames -F _gpu_similarity gpu-similarity
)sh";

/// zsh runs the functions of bash.
constexpr const char* zsh_head =
    "#compdef gpu-similarity\nautoload -U +X bashcompinit && bashcompinit\n";
constexpr const char* zsh_end = "_bash_complete -o filenames -F _gpu_similarity\n";

}  // namespace

std::string completion_script(page_kind shell) {
  const bool is_zsh = shell == page_kind::zsh;
  return std::string(is_zsh ? zsh_head : "") +
         "# Completions of gpu-similarity, from its help.\n_gpu_similarity_help() {\n" + read_help +
         "\n}" + bash_script + (is_zsh ? zsh_end : "");
}

}  // namespace gpu::cli
