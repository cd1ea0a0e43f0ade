#!/usr/bin/env bash
# ./dev asan: tests of the CPU backend, the readers and the command under AddressSanitizer and
# UndefinedBehaviorSanitizer.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/asan}
tests=(execution_test io_test rank_test binary_matmul_test pearson_test)
need build test
configure "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" -DGPU_SIMILARITY_ENABLE_CUDA=OFF \
  -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
  -DGPU_SIMILARITY_SANITIZE=address,undefined "$@"
build "$folder" "${tests[@]}"
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --tests-regex "^($(IFS='|' && echo "${tests[*]}"))\$"
