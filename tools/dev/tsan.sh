#!/usr/bin/env bash
# ./dev tsan: concurrent calls of the CPU backend under ThreadSanitizer.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/tsan}
need build test tsan
configure "$folder" --preset tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo
build "$folder" concurrent_calls_test
say "running the test"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --tests-regex '^concurrent_calls_test$'
