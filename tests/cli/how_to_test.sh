#!/usr/bin/env bash
# Runs each block of shell of docs/how_to.md on small tables: a command that fails, or gives nothing, fails.
# how_to_test.sh GPU_SIMILARITY SOURCE_DIR
set -euo pipefail
page=$2/docs/how_to.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$(realpath "$1")" "$work/bin/gpu-similarity"
export PATH="$work/bin:$PATH"
cd "$work"

# table NAME ROWS SEPARATOR CORNER: rows in pairs, of 12 observations each.
table() {
  awk -v rows="$2" -v sep="$3" -v corner="$4" 'BEGIN {
    srand(7); printf "%s", corner
    for (j = 1; j <= 12; ++j) printf "%so%d", sep, j
    print ""
    for (i = 0; i < rows; ++i) {
      printf "g%d", i
      for (j = 0; j < 12; ++j) { if (i % 2 == 0) f[j] = rand(); printf "%s%.3f", sep, f[j] + 0.1 * rand() }
      print "" } }' > "$1"
}
table expression.tsv 60 $'\t' gene
table proteins.tsv 20 $'\t' protein
table wide.csv 30 , gene
awk -F, '{ for (j = 1; j <= NF; ++j) cell[NR, j] = $j; cols = NF } END {
  for (j = 1; j <= cols; ++j) { line = cell[1, j]; for (i = 2; i <= NR; ++i) line = line "," cell[i, j]; print line } }' wide.csv > samples.csv
table dots.csv 30 ';' gene
awk -F';' -v OFS=';' '{ gsub(/\./, ","); $2 = (NR == 1 ? "group" : "a b") OFS $2; print $0 OFS (NR == 1 ? "comment" : "\"x; y\"") }' dots.csv > exported.csv
awk -F, -v OFS=, 'NR == 3 { $4 = "" } NR == 7 { $2 = "-999" } NR == 9 { $3 = "NA" } { print }' wide.csv > gaps.csv

blocks=0
while IFS= read -r -d '' block; do
  blocks=$((blocks + 1))
  rm -f edges.* partners.tsv matrix.npy across.tsv
  out=$(bash -euo pipefail -c "$block" 2> error) || { echo "FAILED: $block"; cat error; exit 1; }
  for option in $(grep -o -- '-o [^ ]*' <<< "$block" | cut -c4- || true); do
    [ -s "$option" ] || { echo "FAILED: $block: $option is empty"; exit 1; }
    case $option in *.tsv | *.csv) [ "$(wc -l < "$option")" -gt 1 ] || { echo "FAILED: $block: no rows"; cat error; exit 1; } ;; esac
  done
  if [ -z "$out" ] && ! grep -q -- ' -o ' <<< "$block"; then echo "FAILED: $block says nothing"; exit 1; fi
done < <(awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) printf "%c", 0; inside = 0 } inside' "$page")
[ "$blocks" -ge 15 ] || { echo "FAILED: $blocks blocks in $page, expected 15"; exit 1; }
echo "$blocks blocks passed"
