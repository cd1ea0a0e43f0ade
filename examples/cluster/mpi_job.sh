#!/bin/bash
# A whole job of all pairs by the ranks of MPI: each rank computes one part, what is missing then is computed again, and
# the parts are joined. The same line continues from the parts that are there.
#
#   mpi_job.sh RANKS DIR OUTPUT spearman INPUT --max-p 1e-6
#
# The ranks share DIR. MPIRUN_OPTIONS may hold options of mpirun, as "--hostfile FILE --bind-to none", MERGE_OPTIONS more of
# `gpu-similarity merge`, and GPUS how many GPUs each host has, which its ranks then share. Any MPI or srun will do whose
# ranks find their number in the environment. --adjust bh needs two to four rounds, as with slurm_job.sh.
set -euo pipefail

if [ $# -lt 5 ]; then
  echo "usage: mpi_job.sh RANKS DIR OUTPUT spearman|pearson INPUT [options]" >&2
  exit 2
fi
ranks=$1 folder=$2 output=$3
shift 3
command=${GPU_SIMILARITY:-gpu-similarity}
most_rounds=10
most_failures=3
failures=0

# What a rank runs: COMMAND RANKS DIR VERB INPUT [options].
# shellcheck disable=SC2016  # the rank expands it
one_part='
  command=$1 ranks=$2 folder=$3
  shift 3
  rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:?the number of the rank is not in the environment}}}
  on_host=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${SLURM_LOCALID:-0}}}
  if [ -n "${GPUS:-}" ]; then export CUDA_VISIBLE_DEVICES=$((on_host % GPUS)); fi
  exec "$command" "$@" --quiet --part "$((rank + 1))/$ranks" --output-dir "$folder"'

for ((round = 1; round <= most_rounds && failures < most_failures; ++round)); do
  if "$command" parts "$folder" --quick --check > /dev/null 2>&1; then break; fi
  # shellcheck disable=SC2086  # options are words
  ${MPIRUN:-mpirun} -n "$ranks" ${MPIRUN_OPTIONS:-} bash -c "$one_part" part "$command" "$ranks" "$folder" "$@" ||
    { echo "round $round: some ranks failed" >&2; failures=$((failures + 1)); }
done
# shellcheck disable=SC2086  # options are words
"$command" merge "$folder" --output "$output" ${MERGE_OPTIONS:-}
