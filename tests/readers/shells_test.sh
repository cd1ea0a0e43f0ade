#!/usr/bin/env bash
# Completions in zsh and fish as their users have them, and the manual page in man: shells_test.sh GPU_SIMILARITY.
# (bash is in every system that builds this; cli_test completes in it.) Skipped where one of them is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for program in zsh fish man groff; do
  command -v "$program" > /dev/null || exec "$here/../cluster/skipped.sh" "$program is not installed"
done
command=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir functions bin
ln -s "$command" bin/gpu-similarity
export PATH="$work/bin:$PATH" HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
"$command" completion zsh > functions/_gpu-similarity
"$command" completion fish > completions.fish
"$command" manual > gpu-similarity.1
touch table.tsv other.csv
failed=0
expect() { # WHAT GOT WANTED
  [ "$2" = "$3" ] && return
  printf 'FAILED: %s: got "%s", expected "%s"\n' "$1" "$2" "$3"
  failed=1
}

# A line that is typed, and what it becomes by the key Tab.
lines=(
  "spear|spearman "
  "help mean|help mean-filter "
  "spearman --adj|spearman --adjust "
  "spearman --adjust bo|spearman --adjust bonferroni "
  "pearson table.tsv --keep cou|pearson table.tsv --keep counts "
  "rank table.tsv --ties ma|rank table.tsv --ties max "
  "rank table.tsv --adj|rank table.tsv --adj"
  "rank tab|rank table.tsv "
  "pearson table.tsv --against oth|pearson table.tsv --against other.csv "
  "completion z|completion zsh "
)
# zsh completes behind the sign too.
zsh_lines=(
  "spearman --adjust=bo|spearman --adjust=bonferroni "
  "pearson table.tsv --against=oth|pearson table.tsv --against=other.csv "
  "pearson table.tsv --no-cl|pearson table.tsv --no-clobber "
)
typed=() wanted=()
for line in "${lines[@]}"; do
  typed+=("gpu-similarity ${line%%|*}")
  wanted+=("gpu-similarity ${line#*|}")
done

in_zsh=("${typed[@]}")
# The name of an option that takes a value gets the sign, which zsh takes back where a blank is typed.
wanted_in_zsh=("${wanted[@]/%--adjust /--adjust=}")
for line in "${zsh_lines[@]}"; do
  in_zsh+=("gpu-similarity ${line%%|*}")
  wanted_in_zsh+=("gpu-similarity ${line#*|}")
done
mapfile -t got < <(timeout 120 zsh -f "$here/complete.zsh" "$work/functions" "${in_zsh[@]}")
for i in "${!in_zsh[@]}"; do
  expect "zsh: ${in_zsh[i]}" "${got[i]:-nothing}" "[${wanted_in_zsh[i]}]"
done

# fish says the candidates: one, so that Tab takes it.
for i in "${!typed[@]}"; do
  start=${typed[i]% *}
  got=$(fish --no-config --command "source completions.fish; complete --do-complete '${typed[i]}'" | cut -f 1)
  expect "fish: ${typed[i]}" "$start ${got:-${typed[i]##* }}" "${wanted[i]% }"
done

# No warning of man or of groff, and the page has the sections in which one looks.
complaints=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings --local-file gpu-similarity.1 2>&1 > page.txt)
expect "man" "$complaints" ""
complaints=$(groff -man -Tutf8 -ww gpu-similarity.1 2>&1 > /dev/null)
expect "groff" "$complaints" ""
for section in NAME SYNOPSIS "EXIT STATUS"; do
  grep -q "^$section" page.txt || expect "man" "no section $section" "$section"
done
longest=$(LC_ALL=C.UTF-8 wc -L < page.txt)
# Text is broken at 80, examples are not.
[ "$longest" -le 100 ] || expect "man" "a line of $longest characters" "at most 100"
[ "$failed" = 0 ] || exit 1
echo "passed"
