#!/usr/bin/env bash
# ./dev sanitize-cuda [--program PROGRAM] [TOOL...]: each case of tests/soak once, small, under the tools
# of compute-sanitizer (memcheck, racecheck and synccheck where none is named). Errors fail it; what
# racecheck only warns of does not. initcheck has to be read: it does not see what the copy engine writes
# (cp.async.bulk, as means leave the device), and names copies of lists of neighbours behind their counts. FILTER in the environment: only cases with that text in their name. Needs a GPU.
set -euo pipefail
source tools/dev/common.sh

program=
if [ "${1:-}" = --program ]; then
  program=${2:?sanitize-cuda: --program needs a path}
  shift 2
fi
tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck synccheck)
has_gpu || fail "sanitize-cuda: no GPU"
find_sanitizer() {
  command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null
}
sanitizer=$(find_sanitizer) || fail "sanitize-cuda: compute-sanitizer was not found"

if [ -z "$program" ]; then
  folder=${DEV_BUILD_DIR:-build/sanitize-cuda}
  need build test
  configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=ON -DCMAKE_CUDA_FLAGS=-lineinfo \
    -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF -DGPU_SIMILARITY_BUILD_CLI=OFF
  build "$folder" soak_cuda
  program=$folder/tests/soak_cuda
fi

# Small: racecheck and initcheck follow every access.
cases=(--each --repeat 1 --most-rows 70)
[ -z "${FILTER:-}" ] || cases+=(--filter "$FILTER")
for tool in "${tools[@]}"; do
  options=(--tool "$tool" --error-exitcode 99 --print-limit 20)
  case $tool in
    memcheck | synccheck) ;;
    # choice_kernel reads whole 16-byte pieces of a row of maxima and masks what stands behind its end.
    initcheck) options+=(--kernel-name-exclude kernel_substring=choice_kernel) ;;
    # pair_count_kernel: its table of cuts is written and read on either side of a barrier of all warps, which
    # racecheck loses beside the barriers that single warpgroups have.
    racecheck) options+=(--racecheck-report analysis --print-level error --kernel-name-exclude kernel_substring=pair_count_kernel) ;;
    *) fail "sanitize-cuda: got '$tool', expected memcheck, racecheck, initcheck or synccheck" ;;
  esac
  say "$tool"
  started=$SECONDS
  "$sanitizer" "${options[@]}" "$program" "${cases[@]}" || fail "$tool found something: see above"
  say "$tool: passed in $((SECONDS - started)) s"
done
