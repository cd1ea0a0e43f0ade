#!/bin/bash
# One part of a job of all pairs, as a task of a Slurm array.
#
#   sbatch --array=1-64 slurm_part.sh 64 DIR spearman INPUT --max-p 1e-6
#
# The first argument is how many parts the job has, the second the folder that all tasks share; the
# rest is a command line of gpu-similarity. Submit the same again for what is missing:
#
#   sbatch --array="$(gpu-similarity parts DIR --format slurm)" slurm_part.sh 64 DIR spearman ...
#
# A part that is there costs the time of reading it. A task that Slurm ends, at its time limit or
# because something more urgent came, leaves nothing half done and is requeued.
#SBATCH --job-name=pairs
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
#SBATCH --output=pairs-%A_%a.log
set -u

if [ $# -lt 4 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  echo "usage: sbatch --array=1-N slurm_part.sh N DIR spearman|pearson INPUT [options]" >&2
  exit 2
fi
parts=$1 folder=$2
shift 2
command=${GPU_SIMILARITY:-gpu-similarity}

"$command" "$@" --quiet --part "$SLURM_ARRAY_TASK_ID/$parts" --output-dir "$folder" &
work=$!
is_ending=
# SIGTERM comes a minute before the time limit, and on preemption.
trap 'is_ending=yes; kill -TERM "$work" 2> /dev/null' TERM
wait "$work"
code=$?
# The trap ends the first wait: the process itself may take a moment longer.
if [ -n "$is_ending" ]; then
  wait "$work"
  code=$?
fi

terminated=143
if [ "$code" -eq "$terminated" ]; then
  echo "part $SLURM_ARRAY_TASK_ID of $parts was ended, requeued"
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
