#!/usr/bin/env bash
# ./dev bench [BENCHMARK ARGUMENTS]: builds the benchmarks and runs each.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/bench}
need build bench
configure "$folder" -DGPU_SIMILARITY_BUILD_BENCH=ON -DGPU_SIMILARITY_BUILD_TESTS=OFF \
  -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF
build "$folder"
for program in "$folder"/bench/*_bench; do
  [ -x "$program" ] || fail "no benchmark was built"
  say "$program $*"
  "$program" "$@"
done
