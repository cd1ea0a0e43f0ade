#!/bin/bash
# A whole job of all pairs by Slurm: submits an array, waits for it, submits what is missing again,
# and joins the parts.
#
#   slurm_job.sh PARTS DIR OUTPUT spearman INPUT --max-p 1e-6
#
# SBATCH_OPTIONS may hold more options of sbatch, as "--gpus=1 --time=30", MERGE_OPTIONS more of
# `gpu-similarity merge`, as "--report FILE". --adjust bh needs two to
# four rounds: one or more in which the parts count, one in which they write.
set -euo pipefail

if [ $# -lt 5 ]; then
  echo "usage: slurm_job.sh PARTS DIR OUTPUT spearman|pearson INPUT [options]" >&2
  exit 2
fi
parts=$1 folder=$2 output=$3
shift 3
command=${GPU_SIMILARITY:-gpu-similarity}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
most_rounds=10

# What is to be run; all parts where there is none yet.
missing() {
  "$command" parts "$folder" --format slurm 2> /dev/null || echo "1-$parts"
}

for ((round = 1; round <= most_rounds; ++round)); do
  list=$(missing)
  [ -n "$list" ] || break
  echo "round $round: parts $list"
  # shellcheck disable=SC2086  # options are words
  sbatch --wait ${SBATCH_OPTIONS:-} --array="$list" "$here/slurm_part.sh" "$parts" "$folder" "$@" ||
    echo "some tasks failed"
done
# shellcheck disable=SC2086  # options are words
"$command" merge "$folder" --output "$output" ${MERGE_OPTIONS:-}
