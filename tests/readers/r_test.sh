#!/usr/bin/env bash
# What the command writes as text, read by R: r_test.sh GPU_SIMILARITY. Skipped where there is no R.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v Rscript > /dev/null || exec "$here/../cluster/skipped.sh" "Rscript is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Names with what R and pandas give a meaning to: spaces, quotes, the sign of a comment, a number, NA.
names=("gene one" "5' UTR" "O'Neil" 'a "b" c' "#7" "10" "NA" "x#y" "µ-opioid" "back\\slash" "comma,name" "''" "TRUE" "µ-opioid's twin" "constant row")
{
  printf 'name\tc1\tc2\tc3\tc4\tc5\tc6\n'
  for ((i = 0; i < ${#names[@]} - 2; ++i)); do
    printf '%s\t%d\t%d\t%d\t%d\t%d\t%d\n' "${names[i]}" $((i * 7 % 5)) $((i * 3 % 11)) $((i % 4)) \
      $((i * i % 13)) $((i * 5 % 7)) $((i % 3 * i + 1))
  done
  # In the order of the row of µ-opioid, which has no ties: the one pair that is kept by Bonferroni's q.
  printf '%s\t20\t30\t10\t40\t35\t50\n' "${names[-2]}"
  printf '%s\t2\t2\t2\t2\t2\t2\n' "${names[-1]}"
} > in.tsv
printf '%s\n' "${names[@]}" > names.txt

"$1" spearman in.tsv --max-p 1 --quiet -o edges.tsv
"$1" spearman in.tsv --max-p 1 --quiet -o edges.csv
"$1" spearman in.tsv --max-p 0.9 --adjust bh --quiet -o q.csv
"$1" spearman in.tsv --max-p 0.9 --adjust bonferroni --quiet -o bonferroni.tsv
"$1" spearman in.tsv --keep top-k -k 4 --quiet -o top-k.tsv
"$1" spearman in.tsv --keep dense --quiet -o dense.tsv
"$1" spearman in.tsv --keep counts --max-p 1 --quiet -o counts.tsv
Rscript --vanilla "$here/read_back.R"
echo "passed"
