#!/usr/bin/env bash
# tools/dev/gpu/mpi_scaling.sh BUILD_FOLDER LINES.jsonl: how bench/mpi_pairs_job scales from one rank to one for each GPU of this
# host. Runs of 1, 2, 4, ... ranks take turns; what they print goes into LINES.jsonl, and a table follows: median and best of
# all calls, share of the speed of so many single ranks, and the stages of the ranks in a median call. Ends with 1 where ranks
# give another result. ROWS (4000000), SINKS (edges counts), ROUNDS (3) of CALLS (3) each, RANKS (1 2 4), MPIRUN_OPTIONS.
set -euo pipefail
job=$(cd "$1" && pwd)/bench/mpi_pairs_job
lines=$2
gpus=$( (nvidia-smi -L 2> /dev/null || true) | wc -l)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
read -ra options <<< "${MPIRUN_OPTIONS:---bind-to none}"
: > "$lines"
for _ in $(seq 1 "${ROUNDS:-3}"); do
  for sink in ${SINKS:-edges counts}; do
    cut=0.05
    [ "$sink" = counts ] || cut=6.25e-15
    for ranks in ${RANKS:-1 2 4}; do
      [ "$gpus" -eq 0 ] || [ "$ranks" -le "$gpus" ] || continue
      mpirun -n "$ranks" "${options[@]}" "$job" "${ROWS:-4000000}" 30 "$sink" $cut 0 "${CALLS:-3}" >> "$lines"
    done
  done
done
python3 - "$lines" << 'PYTHON'
import json
import statistics
import sys

runs = {}
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        run = json.loads(line)
        runs.setdefault((run["sink"], run["ranks"]), []).append(run)
same = True
for (sink, ranks), group in sorted(runs.items()):
    calls = [ms for run in group for ms in run["calls_ms"]]
    alone = [ms for run in runs[sink, min(r for s, r in runs if s == sink)] for ms in run["calls_ms"]]
    answers = {(run["kept"], run["checksum"]) for key, of in runs.items() if key[0] == sink for run in of}
    same = same and len(answers) == 1
    median, best = statistics.median(calls), min(calls)
    print(f"{sink}, {ranks} ranks: median {median:.1f} ms, best {best:.1f}, of {len(calls)} calls; share of {ranks} single ranks "
          f"{statistics.median(alone) / ranks / median:.1%}, best {min(alone) / ranks / best:.1%}; kept, checksum {answers}")
    middle = sorted(group, key=lambda run: run["seconds"])[len(group) // 2]
    for rank, stages in enumerate(middle["stages_ms"]["median"]):
        print(f"    rank {rank}: {stages}")
sys.exit(0 if same else "ranks give another result")
PYTHON
