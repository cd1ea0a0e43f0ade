#!/usr/bin/env bash
# ./dev asan: tests of the CPU backend, the readers and the command under AddressSanitizer and
# UndefinedBehaviorSanitizer. The fuzzers are of the same build: ./dev fuzz.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/asan}
tests=(execution_test io_test rank_test binary_matmul_test pearson_test pair_area_test)
need build test tsan fuzz
configure "$folder" --preset asan -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@"
build "$folder" "${tests[@]}" parts_model_test
# A finding ends the process by a signal: as an exit code it would pass for the refusal of a bad argument.
export ASAN_OPTIONS=abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:abort_on_error=1
# The command, by random jobs alone and in parts: beside the tests, because one test lasts as long as all others.
trials=60
"$folder/tests/parts_model_test" --trials $trials --seed 100 >"$folder/parts.log" 2>&1 &
parts=$!
trap 'kill $parts 2>/dev/null || true' EXIT
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --tests-regex "^($(IFS='|' && echo "${tests[*]}"))\$"
say "the command, in $trials random jobs"
wait $parts || { cat "$folder/parts.log"; fail "see above"; }
tail -n 1 "$folder/parts.log"
