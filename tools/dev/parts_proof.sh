#!/usr/bin/env bash
# tools/dev/parts_proof.sh BUILD_FOLDER INPUT OPTION...: one job of `gpu-similarity spearman` by every way that parts can be run,
# with something killed in each, as one table: checksum, and whether the bytes are those of the single
# run. Ways that are not there (no Slurm, no MPI) are left out, and said. KILLS: how often the resumed run is killed (50).
set -euo pipefail
build=$(cd "$1" && pwd) input=$(realpath "$2")
shift 2
options=("$@")
single=$build/src/cli/gpu-similarity
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/cluster" && pwd)
kills=${KILLS:-50}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GPU_SIMILARITY=$single OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

parts_there() { find "$1" -name 'part-*.json' 2> /dev/null | wc -l; }
checksum_of() { sed -n 's/^checksum //p' "$1" | tail -1; }
row() { # WAY FILE CHECKSUM
  local same="other bytes"
  if cmp -s expected "$2"; then same="the same bytes"; fi
  printf '| %s | `%s` | %s |\n' "$1" "$3" "$same"
}

echo "$(basename "$input") ${options[*]}"
echo
echo "| way | checksum | after merge |"
echo "|---|---|---|"
"$single" spearman "$input" "${options[@]}" -o expected --report report.json --quiet
row "single run" expected "$(sed -n 's/.*"checksum": "\(.*\)",/\1/p' report.json)"

for round in 1 2 3 4; do
  for part in 1 2 3 4 5 6 7; do
    "$single" spearman "$input" "${options[@]}" --part $part/7 --output-dir seven --quiet
  done
  if [ -z "$("$single" parts seven --format slurm)" ]; then break; fi
done
"$single" merge seven -o found 2> log
row "7 parts, one after the other" found "$(checksum_of log)"

if [ -n "$(timeout 10 sinfo -h -t idle,mix 2> /dev/null)" ]; then
  id=$(sbatch --parsable --array=1-9 "$scripts/slurm_part.sh" 9 slurm spearman "$input" "${options[@]}" --threads 1)
  killed=0
  for _ in $(seq 1 1000); do
    task=$(pgrep -f "^$single spearman $input.*--output-dir slurm" | tail -1 || true)
    if [ -n "$task" ]; then kill -9 "$task" && killed=1 && break; fi
    sleep 0.01
  done
  while [ -n "$(squeue -h -j "$id" 2> /dev/null)" ]; do sleep 0.2; done
  left=$("$single" parts slurm --format slurm)
  SBATCH_OPTIONS=--quiet "$scripts/slurm_job.sh" 9 slurm found spearman "$input" "${options[@]}" --threads 1 > log 2>&1
  row "Slurm array of 9, $killed task killed (left over: ${left:-none}), the rest submitted again" found "$(checksum_of log)"
else
  echo "(no Slurm takes jobs here)"
fi

if command -v mpirun > /dev/null; then
  MPIRUN_OPTIONS=--oversubscribe "$scripts/mpi_job.sh" 4 mpi found spearman "$input" "${options[@]}" --threads 1 > log 2>&1 &
  mpi=$!
  while [ "$(parts_there mpi)" -lt 1 ] && kill -0 $mpi 2> /dev/null; do sleep 0.001; done
  there=$(parts_there mpi)
  kill -9 "$(pgrep -f "^$single spearman $input.*--output-dir mpi" | tail -1)" 2> /dev/null || true
  wait $mpi
  row "4 MPI ranks, one killed with $there of 4 parts there" found "$(checksum_of log)"
else
  echo "(no MPI is installed)"
fi

# kill -9 at random moments: within the time that the whole takes, so that some come between two parts.
job=(spearman "$input" "${options[@]}" --resume -o resumed)
begun=0
for _ in $(seq 1 "$kills"); do
  "$single" "${job[@]}" --parts 61 > log 2>&1 &
  run=$!
  sleep "0.$(printf '%03d' $((RANDOM % 300 + 10)))"
  kill -9 $run 2> /dev/null && begun=$((begun + 1))
  wait $run 2> /dev/null || true
  if [ -e resumed ]; then cmp -s expected resumed || echo "OTHER BYTES"; rm resumed; finished=$((${finished:-0} + 1)); fi
done
"$single" "${job[@]}" 2> log
row "resumed, killed $begun times (done ${finished:-0} times on the way)" resumed "$(checksum_of log)"
if [ -e .resumed.parts ]; then echo "(the folder of parts is left)"; fi
