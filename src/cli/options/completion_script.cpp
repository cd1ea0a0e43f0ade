#include "cli/options/command_pages.hpp"

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

constexpr const char* zsh_script = R"sh(
_gpu-similarity() {
  local names value text name action
  local -a verbs options
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    while IFS=$'\t' read -r names value text; do
      [[ $names == -* ]] || verbs+=("$names:$text")
    done < <($words[1] --help 2> /dev/null | _gpu_similarity_help)
    verbs+=('help:What a command does')
    _describe command verbs
    return
  fi
  while IFS=$'\t' read -r names value text; do
    case $value:$names in
      -:*) action= ;;
      *\|*) action=":$names:(${value//|/ })" ;;
      DIR:*|*:DIR) action=":$names:_files -/" ;;
      FILE:*|*:[A-Z]*) action=":$names:_files" ;;
      *) action=":$value: " ;;
    esac
    if [[ $names != -* ]]; then
      options+=("$action")
      continue
    fi
    text=${${${text//:/\\:}//\[/\\[}//\]/\\]}
    for name in ${(s:,:)names}; do
      # With the sign, the value may stand behind it or be the next word.
      [[ $name == --* && $value != - ]] && name+='='
      options+=("${name}[$text]$action")
    done
  done < <($words[1] $words[2] --help 2> /dev/null | _gpu_similarity_help)
  (( CURRENT-- ))
  shift words
  _arguments $options
}
_gpu-similarity "$@"
)sh";

constexpr const char* fish_script = R"sh(
function __gpu_similarity_complete
    set -l line (commandline -opc)
    set -l current (commandline -ct)
    if test (count $line) -eq 1; or test $line[2] = help
        $line[1] --help 2> /dev/null | _gpu_similarity_help | string match -v -- '-*' | string replace -r '\t.*?\t' '\t'
        printf 'help\tWhat a command does\n'
        return
    end
    set -l files __fish_complete_path $current
    for row in ($line[1..2] --help 2> /dev/null | _gpu_similarity_help)
        set -l part (string split \t -- $row)
        set -l names (string split , -- $part[1])
        set -l is_argument (string match -v -- '-*' $part[1])
        if test -n "$is_argument"; or begin; test $part[2] != -; and contains -- $line[-1] $names; end
            set files
            switch $part[2]
                case '*|*'
                    string split '|' -- $part[2]
                case FILE TEXT
                    set files __fish_complete_path $current
                case DIR
                    set files __fish_complete_directories $current
            end
            test -n "$is_argument"; or break
        else if string match -q -- '-*' $current
            set files
            printf "%s\t$part[3]\n" $names
        end
    end
    set -q files[1]; and $files
end
complete -c gpu-similarity -f -a '(__gpu_similarity_complete)'
)sh";

}  // namespace

std::string completion_script(page_kind shell) {
  const bool is_fish = shell == page_kind::fish;
  const std::string head = shell == page_kind::zsh ? "#compdef gpu-similarity\n" : "";
  const std::string reader =
      (is_fish ? "function _gpu_similarity_help\n" : "_gpu_similarity_help() {\n") +
      std::string(read_help) + (is_fish ? "\nend" : "\n}");
  return head + "# Completions of gpu-similarity, from its help.\n" + reader +
         (is_fish                   ? fish_script
          : shell == page_kind::zsh ? zsh_script
                                    : bash_script);
}

}  // namespace gpu::cli
