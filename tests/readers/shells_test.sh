#!/usr/bin/env bash
# Completions in zsh as its users have them, and the manual page in man: shells_test.sh GPU_SIMILARITY.
# (bash is in every system that builds this; cli_test completes in it.) Skipped where one of them is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for program in zsh man groff; do
  command -v "$program" > /dev/null || exec "$here/../cluster/skipped.sh" "$program is not installed"
done
command=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir functions bin
ln -s "$command" bin/gpu-similarity
export PATH="$work/bin:$PATH" HOME=$work
"$command" completion zsh > functions/_gpu-similarity
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
  "spear|spearman"
  "help mean|help mean-filter"
  "spearman --adj|spearman --adjust"
  "spearman --adjust bo|spearman --adjust bonferroni"
  "pearson table.tsv --keep cou|pearson table.tsv --keep counts"
  "rank table.tsv --ties ma|rank table.tsv --ties max"
  "rank table.tsv --adj|rank table.tsv --adj"
  "rank tab|rank table.tsv "
  "pearson table.tsv --against oth|pearson table.tsv --against other.csv "
  "completion z|completion zsh"
  "pearson table.tsv --no-cl|pearson table.tsv --no-clobber"
)
typed=()
for line in "${lines[@]}"; do typed+=("gpu-similarity ${line%%|*}"); done
mapfile -t got < <(timeout 120 zsh -f "$here/complete.zsh" "$work/functions" "${typed[@]}")
for i in "${!typed[@]}"; do
  expect "zsh: ${typed[i]}" "${got[i]:-nothing}" "[gpu-similarity ${lines[i]#*|}]"
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
