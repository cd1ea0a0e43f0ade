#!/usr/bin/env bash
# ./dev demo: builds the command and runs the main job twice, on real data and on a generated
# table in the shape of the job that the project began with.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/demo}
results=$folder/results
command=$folder/src/cli/gpu-similarity

# Without a GPU the demo cannot run CUDA code, so it does not spend minutes on building it.
backend=(-DGPU_SIMILARITY_ENABLE_CUDA=OFF)
rows=50000
find_nvcc
if has_gpu && has_nvcc; then
  backend=()
  rows=1000000
fi

need build
configure "$folder" -DGPU_SIMILARITY_BUILD_TESTS=OFF -DGPU_SIMILARITY_BUILD_BENCH=OFF "${backend[@]}"
build "$folder" gpu-similarity generate_counts
mkdir -p "$results"

# show_edges FILE: the first edges, as a table.
show_edges() {
  local edges
  edges=$(($(wc -l <"$1") - 1))
  echo
  echo "The first of $edges edges in $1:"
  head -n 6 "$1" | expand -t 12
  echo
}

# A value of a --report file.
report_value() { sed -n "s/.*\"$2\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$1" | head -n 1; }

say "this machine"
"$command" info

say "real data: 5,000 rows of 30 pixel values, all 12,497,500 pairs"
"$command" spearman examples/data/fashion_5000x30.txt --max-p 0.05 --adjust bonferroni \
  --output "$results/pixels.tsv" --report "$results/pixels.json"
show_edges "$results/pixels.tsv"

say "generated counts: $rows rows of 30, heavy ties, all $((rows * (rows - 1) / 2)) pairs"
"$folder/examples/generate_counts" "$results/counts.npy" "$rows" dense
"$command" spearman "$results/counts.npy" --max-p 1e-7 \
  --output "$results/counts.tsv" --report "$results/counts.json"
show_edges "$results/counts.tsv"

pairs=$(report_value "$results/counts.json" pairs_tested)
seconds=$(report_value "$results/counts.json" pairs)
say "done: $pairs pairs in $seconds s on $(report_value "$results/counts.json" backend)"
