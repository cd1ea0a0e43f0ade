#!/usr/bin/env bash
# parquet_wheel.sh [SCRATCH]: Parquet by the package pyarrow, where the system has no Apache Arrow: installs it from PyPI
# in a virtual environment, builds the command against its headers and libraries, and runs the tests of Parquet.
# SCRATCH (build/parquet) keeps both for the next time. CMAKE_ARGUMENTS goes to cmake. The CPU's backend is enough.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=${1:-$root/build/parquet}
python=$scratch/venv/bin/python
mkdir -p "$scratch"
[ -x "$python" ] || python3 -m venv "$scratch/venv"
"$python" -m pip install --quiet --disable-pip-version-check pyarrow pandas
folder=$("$python" -c 'import os, pyarrow; print(os.path.dirname(pyarrow.__file__))')
# shellcheck disable=SC2086  # arguments are words
cmake -S "$root" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGPU_SIMILARITY_ENABLE_CUDA=OFF \
  -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
  -DGPU_SIMILARITY_ENABLE_PARQUET=ON -DArrow_ROOT="$folder" ${CMAKE_ARGUMENTS:-} > "$scratch/configure.log" ||
  { cat "$scratch/configure.log"; exit 1; }
cmake --build "$scratch/build" --target gpu-similarity io_test ${DEV_JOBS:+--parallel "$DEV_JOBS"}
"$scratch/build/tests/io_test" "[parquet]"
PYTHON=$python "$root/tests/readers/parquet_test.sh" "$scratch/build/src/cli/gpu-similarity"
