#!/usr/bin/env bash
# ./dev clang: the CPU build by clang++ with warnings as errors, and a program of tests of it.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/clang}
need build test tsan
configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=OFF -DGPU_SIMILARITY_WERROR=ON \
  -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
  -DCMAKE_CXX_COMPILER=clang++-14 "$@"
build "$folder" gpu-similarity spearman_test
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --tests-regex '^spearman_test$'
