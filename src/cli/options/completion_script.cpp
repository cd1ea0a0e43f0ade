#include "cli/options/help_texts.hpp"

namespace gpu::cli {
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
