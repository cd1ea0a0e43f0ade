#!/usr/bin/env bash
# What the command writes as text, read by R: r_test.sh GPU_SIMILARITY. Skipped where there is no R.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v Rscript > /dev/null || exec "$here/../cluster/skipped.sh" "Rscript is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Names with what R and pandas give a meaning to: spaces, quotes, the sign of a comment, a number, NA.
names=("gene one" "5' UTR" "O'Neil" 'a "b" c' "#7" "10" "NA" "x#y" "µ-opioid" "back\\slash" "comma,name" "''" "TRUE")
{
  printf 'name\tc1\tc2\tc3\tc4\tc5\tc6\n'
  for i in "${!names[@]}"; do
    printf '%s\t%d\t%d\t%d\t%d\t%d\t%d\n' "${names[i]}" $((i * 7 % 5)) $((i * 3 % 11)) $((i % 4)) \
      $((i * i % 13)) $((i * 5 % 7)) $((i % 3 * i))
  done
} > in.tsv
printf '%s\n' "${names[@]}" > names.txt

for keep in edges top-k dense counts; do
  options=(--keep $keep)
  if [ $keep = top-k ]; then options+=(-k 4); fi
  "$1" spearman in.tsv "${options[@]}" --max-p 1 --quiet -o $keep.tsv
done
Rscript --vanilla "$here/read_back.R"
echo "passed"
