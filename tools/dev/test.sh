#!/usr/bin/env bash
# ./dev test [CMAKE ARGUMENTS]: builds everything and runs all tests.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/test}
need build test
if ! command -v mpirun >/dev/null; then need mpi; fi
configure "$folder" -DGPU_SIMILARITY_ENABLE_ZSTD=ON \
  -DGPU_SIMILARITY_BUILD_TESTS=ON -DGPU_SIMILARITY_BUILD_BENCH=OFF "$@"
build "$folder"
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)"
