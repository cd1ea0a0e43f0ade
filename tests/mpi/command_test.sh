#!/usr/bin/env bash
# gpu-similarity-mpi with four ranks, one of which is killed, beside gpu-similarity.
# command_test.sh GPU_SIMILARITY GPU_SIMILARITY_MPI MPIRUN
set -euo pipefail
single=$1 many=$2 mpirun=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
fail() { echo "FAILED: $*" >&2; exit 1; }
ranks() { "$mpirun" -n 4 --oversubscribe "$many" "$@" --threads 1; }

awk 'BEGIN { srand(3); for (i = 0; i < 3000; ++i) { if (i % 50 == 0) for (j = 0; j < 30; ++j) f[j] = int(40 * rand());
  for (j = 0; j < 30; ++j) printf "%d%s", f[j] + int((2 + i % 50) * rand()), j < 29 ? " " : "\n" } }' > "$work/in.txt"
for options in "--max-p 1e-4" "--max-p 0.01 --adjust bh --format npy" "--keep counts --max-p 0.01"; do
  # shellcheck disable=SC2086  # options are words
  "$single" spearman "$work/in.txt" $options --quiet -o "$work/expected"
  # shellcheck disable=SC2086
  ranks spearman "$work/in.txt" $options --parts 13 -o "$work/found" || fail "$options"
  cmp "$work/expected" "$work/found" || fail "$options: other bytes"
  [ ! -e "$work/.found.parts" ] || fail "the folder of parts is still there"
done

# Rows that repeat: each part decides by itself whether to fold them.
awk 'BEGIN { srand(5); for (i = 0; i < 12000; ++i) for (j = 0; j < 6; ++j) printf "%d%s", int(3 * rand()), j < 5 ? " " : "\n" }' \
  > "$work/repeated.txt"
repeated=(spearman "$work/repeated.txt" --max-p 1e-4)
"$single" "${repeated[@]}" --quiet -o "$work/expected"
ranks "${repeated[@]}" --parts 2 -o "$work/found" || fail "repeated rows"
cmp "$work/expected" "$work/found" || fail "repeated rows: other bytes"

# A rank is killed once some parts are there: the job ends, and the same command line goes on.
job=(spearman "$work/in.txt" --max-p 0.05 --parts 60 -o "$work/found" --output-dir "$work/parts")
rm -f "$work/found"
ranks "${job[@]}" > /dev/null 2>&1 &
mpi=$!
for _ in $(seq 1 2000); do
  [ "$(find "$work/parts" -name 'part-*.json' 2> /dev/null | wc -l)" -lt 5 ] || break
  sleep 0.005
done
rank=$(pgrep -f "$many spearman $work/in.txt" | tail -1)
kill -9 "$rank" || true
wait "$mpi" && fail "the job of a killed rank ended well"
before=$(find "$work/parts" -name 'part-*.json' | wc -l)
[ ! -e "$work/found" ] || fail "there is a result of half a job"
"$single" parts "$work/parts" | tail -2
ranks "${job[@]}" 2>&1 | tee "$work/log" || fail "the job does not go on"
grep -q "computed $((60 - before)) parts" "$work/log" || fail "parts that were there were computed again"
"$single" spearman "$work/in.txt" --max-p 0.05 --quiet -o "$work/expected"
cmp "$work/expected" "$work/found" || fail "other bytes after a killed rank"
"$single" merge "$work/parts" -o "$work/merged" 2>&1 | grep checksum
cmp "$work/expected" "$work/merged" || fail "other bytes of merge"
# What goes wrong on one rank ends all.
ranks spearman "$work/no such file" -o "$work/found" > "$work/log" 2>&1 && fail "no input, no error"
echo "passed"
