#!/usr/bin/env bash
# Jobs by four ranks of MPI (examples/cluster/mpi_job.sh), next to the single run; one rank is killed.
# mpi_test.sh GPU_SIMILARITY SOURCE_DIR
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v mpirun > /dev/null || exec "$here/skipped.sh" "mpirun is not installed"
export GPU_SIMILARITY=$1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MPIRUN_OPTIONS=--oversubscribe
job=$2/examples/cluster/mpi_job.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

awk 'BEGIN { srand(3); for (i = 0; i < 6000; ++i) { if (i % 50 == 0) for (j = 0; j < 30; ++j) f[j] = int(40 * rand());
  for (j = 0; j < 30; ++j) printf "%d%s", f[j] + int((2 + i % 50) * rand()), j < 29 ? " " : "\n" } }' > in.txt
for options in "--max-p 1e-4" "--max-p 0.01 --adjust bh --format npy" "--keep counts --max-p 0.01"; do
  # shellcheck disable=SC2086  # options are words
  "$GPU_SIMILARITY" spearman in.txt $options --quiet -o expected
  # shellcheck disable=SC2086
  "$job" 4 parts found spearman in.txt $options --threads 1 || fail "$options"
  cmp expected found || fail "$options: other bytes"
  rm -r parts found
done

# A rank that is killed ends the round; its part is computed in the next one. The naive variant is slow enough for that.
(
  for _ in $(seq 1 1000); do
    victim=$(pgrep -f "$GPU_SIMILARITY spearman in.txt.*--part 3/4" | tail -1 || true)
    if [ -n "$victim" ]; then kill -9 "$victim" && : > killed && exit; fi
    sleep 0.01
  done
) &
"$job" 4 parts found spearman in.txt --max-p 0.05 --threads 1 --variant naive 2> log || fail "the job does not go on"
wait
[ -e killed ] || fail "no rank could be killed"
grep -q "round 1: some ranks failed" log || fail "a killed rank was not noticed"
"$GPU_SIMILARITY" spearman in.txt --max-p 0.05 --quiet -o expected
cmp expected found || fail "other bytes after a killed rank"

"$job" 2 none found spearman "no such file" > log 2>&1 && fail "no input, no error"
echo "passed"
