#!/usr/bin/env bash
# A job as a Slurm array, one task of which is killed and one ended by its time limit. By the Slurm of this
# machine where one takes jobs, else by one that is started for the test (one_node_slurm.sh).
# slurm_test.sh GPU_SIMILARITY SOURCE_DIR
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
takes_jobs() {
  command -v sbatch > /dev/null && [ -n "$(timeout 10 sinfo -h -t idle,mix 2> /dev/null)" ]
}
if ! takes_jobs; then
  [ -z "${IN_ONE_NODE_SLURM:-}" ] || exec "$here/skipped.sh" "the Slurm of this machine takes no jobs"
  # On a busy machine a node that is started for the test may not take a requeued task again in time.
  env IN_ONE_NODE_SLURM=yes "$here/one_node_slurm.sh" "$0" "$@" && code=0 || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    echo "failed in one Slurm; once more in a fresh one" >&2
    exec env IN_ONE_NODE_SLURM=yes "$here/one_node_slurm.sh" "$0" "$@"
  fi
  exit "$code"
fi
export GPU_SIMILARITY=$1
scripts=$2/examples/cluster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; tail -n 5 "$work"/*.log >&2; exit 1; }

awk 'BEGIN { srand(3); for (i = 0; i < 12000; ++i) { if (i % 50 == 0) for (j = 0; j < 30; ++j) f[j] = int(40 * rand());
  for (j = 0; j < 30; ++j) printf "%d%s", f[j] + int((2 + i % 50) * rand()), j < 29 ? " " : "\n" } }' > in.txt
# The naive variant is slow enough to be ended on the way; it is no part of what a job is.
job=(spearman in.txt --max-p 0.01 --threads 1 --variant naive)
"$GPU_SIMILARITY" spearman in.txt --max-p 0.01 --quiet -o expected.tsv

# The array, of which one task is killed on the way.
id=$(sbatch --parsable --array=1-8 "$scripts/slurm_part.sh" 8 parts "${job[@]}")
for _ in $(seq 1 500); do
  victim=$(pgrep -f "$GPU_SIMILARITY spearman in.txt.*--part [3-8]/8" | tail -1 || true)
  [ -z "$victim" ] || break
  sleep 0.02
done
[ -n "$victim" ] || fail "no task could be killed"
kill -9 "$victim"
while [ -n "$(squeue -h -j "$id" 2> /dev/null)" ]; do sleep 0.2; done
list=$("$GPU_SIMILARITY" parts parts --format slurm)
echo "missing after a kill: $list"
[ -n "$list" ] || fail "the killed part is there"

# A task that gets SIGTERM, as before its time limit, leaves nothing and is requeued.
id=$(sbatch --parsable --array="$list" "$scripts/slurm_part.sh" 8 parts "${job[@]}")
for _ in $(seq 1 500); do
  [ -z "$(pgrep -f "$GPU_SIMILARITY spearman in.txt.*--part" || true)" ] || break
  sleep 0.02
done
scancel --signal=TERM --batch "$id" || true
for _ in $(seq 1 600); do
  [ -n "$("$GPU_SIMILARITY" parts parts --format slurm)" ] || break
  # A requeued job waits for a while by default; it is not the waiting that is tested. Within the
  # second in which it was ended slurmd refuses it for good, by its revoked credential.
  held=$(squeue -h -o %A -t PD)
  if [ -n "$held" ]; then sleep 2; fi
  for waiting in $held; do scontrol update JobId="$waiting" StartTime=now 2> /dev/null || true; done
  sleep 0.2
done
grep -h "was ended, requeued" pairs-*.log || echo "the task was done before SIGTERM came"
[ -z "$("$GPU_SIMILARITY" parts parts --format slurm)" ] || fail "parts are missing"
[ -z "$(ls parts/*.partial 2> /dev/null)" ] || echo "(the killed process left an unfinished file)"
"$GPU_SIMILARITY" merge parts -o merged.tsv
cmp expected.tsv merged.tsv || fail "other bytes"

# The driver, with counting passes before the result.
SBATCH_OPTIONS=--quiet "$scripts/slurm_job.sh" 3 found found.tsv spearman in.txt --max-p 0.001 --adjust bh --threads 1
"$GPU_SIMILARITY" spearman in.txt --max-p 0.001 --adjust bh --quiet -o expected.tsv
cmp expected.tsv found.tsv || fail "other bytes by the driver"
echo "passed"
