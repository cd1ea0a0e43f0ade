#!/usr/bin/env bash
# ./dev test [CMAKE ARGUMENTS]: builds everything and runs all tests.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/test}
need build test
# MPI is tested where it is there, and skipped, visibly, where it is not.
mpi=OFF
if command -v mpicxx >/dev/null && command -v mpirun >/dev/null; then mpi=ON; fi
configure "$folder" -DGPU_SIMILARITY_ENABLE_MPI=$mpi -DGPU_SIMILARITY_BUILD_TESTS=ON -DGPU_SIMILARITY_BUILD_BENCH=OFF "$@"
build "$folder"
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)"
