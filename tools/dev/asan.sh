#!/usr/bin/env bash
# ./dev asan: the tests of the CPU backend, the readers and the command under AddressSanitizer and
# UndefinedBehaviorSanitizer.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/asan}
need build test
configure "$folder" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -DGPU_SIMILARITY_ENABLE_CUDA=OFF -DGPU_SIMILARITY_WERROR=OFF -DGPU_SIMILARITY_BUILD_BENCH=OFF \
  -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF -DGPU_SIMILARITY_SANITIZE=address,undefined "$@"
build "$folder"
say "running the tests"
# The same programs at every instruction set and the headers alone are left to the plain build.
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --exclude-regex '^(compile|layers|package)/|_(baseline|avx2|avx512)$'
