#!/usr/bin/env bash
# ./dev gpu [--quick] [--build FOLDER] [--before REPORT]: all that only a GPU can show, and one report file.
# Builds for the GPU at hand, runs every CUDA test with a skip as a failure, small cases of every kernel
# under compute-sanitizer (not with --quick), and timed jobs, beside those of an earlier report, of which
# what became slower is named. Fails where a test, a tool or a job failed.
set -euo pipefail
source tools/dev/common.sh

quick=
folder=build/gpu
before=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --build) folder=${2:?gpu: --build needs a folder} && shift ;;
    --before) before=${2:?gpu: --before needs a report} && shift ;;
    *) fail "gpu: got '$1', expected --quick, --build FOLDER or --before REPORT" ;;
  esac
  shift
done
has_gpu || fail "gpu: no GPU; the CPU's tests are ./dev test"

need build test bench
configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=ON -DGPU_SIMILARITY_BUILD_TESTS=ON \
  -DGPU_SIMILARITY_BUILD_BENCH=ON
build "$folder"
python3 tools/dev/gpu_report.py "$folder" ${before:+--before "$before"} \
  --output "${GPU_REPORT:-$folder/report.json}" ${quick:+--quick}
