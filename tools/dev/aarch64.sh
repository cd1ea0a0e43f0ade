#!/usr/bin/env bash
# ./dev aarch64: the CPU backend for 64-bit Arm, and the tests that an emulator runs in seconds.
set -euo pipefail
source tools/dev/common.sh

tests=(execution_test centred_ranks_test p_value_test exact_sum_test top_k_test)
folder=${DEV_BUILD_DIR:-build/aarch64}
need build test aarch64
configure "$folder" --preset aarch64
build "$folder" "${tests[@]}"
say "running tests in an emulator"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --tests-regex "^($(IFS='|' && echo "${tests[*]}"))\$"
