#!/usr/bin/env bash
# ./dev gpu [--quick] [--build FOLDER] [--before REPORT] [--architectures "LIST LIST..."] [--prefix FOLDER]
#           [--minutes N]:
# all that only a GPU can show, and one report file. Builds for the GPU at hand, or once for each LIST, as
# CMAKE_CUDA_ARCHITECTURES takes it: "80-virtual 75-virtual" shows what devices of 8.0 and 7.5 run. Runs the
# first call of every operation, every CUDA test with a skip as a failure, the campaigns (parts, soak) for N
# minutes in all (3), small cases of every kernel under compute-sanitizer, the Python package's tests where
# it can be built, and timed jobs, beside those of an earlier report (the newest under bench/results of this
# GPU and these architectures where none is named), of which what became slower is named. --quick: first
# calls, tests and jobs alone. --prefix: where fmt, CLI11, Catch2, Boost and zlib are on a machine without
# its own: tools/dev/gpu/carry.sh fills such a folder. Fails where a test, a tool or a job failed.
# The report is FOLDER/report.json, with several lists FOLDER/report-LIST.json; GPU_REPORTS names another folder.
set -euo pipefail
source tools/dev/common.sh

quick=
folder=build/gpu
before=
prefix=
minutes=3
lists=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --build) folder=${2:?gpu: --build needs a folder} && shift ;;
    --before) before=${2:?gpu: --before needs a report} && shift ;;
    --prefix) prefix=$(cd "${2:?gpu: --prefix needs a folder}" && pwd) && shift ;;
    --minutes) minutes=${2:?gpu: --minutes needs a number} && shift ;;
    --architectures)
      read -r -a lists <<<"${2:?gpu: --architectures needs lists}"
      shift
      ;;
    *) fail "gpu: got '$1', expected --quick, --build, --before, --architectures, --prefix or --minutes" ;;
  esac
  shift
done
has_gpu || fail "gpu: no GPU; the CPU's tests are ./dev test"

options=(-DGPU_SIMILARITY_ENABLE_CUDA=ON -DGPU_SIMILARITY_BUILD_TESTS=ON -DGPU_SIMILARITY_BUILD_BENCH=ON
  -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF)
if [ -n "$prefix" ]; then
  options+=("-DCMAKE_PREFIX_PATH=$prefix")
  export PYTHONPATH=$prefix/python${PYTHONPATH:+:$PYTHONPATH}
else
  need build test bench
fi
python=
if python3 -c 'import nanobind, numpy, pytest' 2>/dev/null && [ -z "$quick" ]; then
  python=$(command -v python3)
  options+=(-DGPU_SIMILARITY_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$python"
    "-Dnanobind_DIR=$("$python" -m nanobind --cmake_dir)")
fi

# run LIST: builds for the list, nothing for the GPU at hand, and writes a report.
run() {
  local name=report${1:+-${1//;/_}}
  local report=${GPU_REPORTS:-$folder}/$name.json
  [ -z "$1" ] || export CMAKE_CUDA_ARCHITECTURES=$1
  configure "$folder" "${options[@]}" && build "$folder" gpu_programs ${python:+_core} || return
  python3 tools/dev/gpu/report.py "$folder" --output "$report" --minutes "$minutes" \
    ${before:+--before "$before"} ${quick:+--quick} ${python:+--python "$python"}
}

failed=()
for list in "${lists[@]-}"; do
  run "$list" || failed+=("${list:-the GPU at hand}")
done
[ ${#failed[@]} -eq 0 ] || fail "gpu: failures with the build for ${failed[*]}: see above"
