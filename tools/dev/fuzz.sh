#!/usr/bin/env bash
# ./dev fuzz [SECONDS [FUZZER...]]: builds the fuzzers (all where none is named) and runs each on its kept
# corpus. An input that is found is kept in the build folder; the program takes its name to repeat it.
# fuzz_operations builds the whole library under the sanitizers, the others in three minutes.
set -euo pipefail
source tools/dev/common.sh

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "fuzz: got '$seconds', expected a number of seconds"
folder=${DEV_BUILD_DIR:-build/fuzz}
all=(fuzz_text fuzz_npy fuzz_gzip fuzz_options fuzz_operations)
fuzzers=("${@:2}")
[ ${#fuzzers[@]} -gt 0 ] || fuzzers=("${all[@]}")
for fuzzer in "${fuzzers[@]}"; do
  [[ " ${all[*]} " == *" $fuzzer "* ]] || fail "fuzz: got '$fuzzer', expected some of ${all[*]}"
done
need build fuzz
configure "$folder" --preset fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo
build "$folder" "${fuzzers[@]}"

export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# To note where each block of memory was taken is a third of the time; a finding's input, run again
# without this, tells it.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=8
for fuzzer in "${fuzzers[@]}"; do
  found=$folder/tests/fuzz/$fuzzer.corpus
  mkdir -p "$found"
  options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -entropic=0 -detect_leaks=0 -print_final_stats=1
    -close_fd_mask=1
    -artifact_prefix="$folder/tests/fuzz/$fuzzer-")
  [ -f "tests/fuzz/$fuzzer.dict" ] && options+=(-dict="tests/fuzz/$fuzzer.dict")
  say "$fuzzer for $seconds s"
  "$folder/tests/fuzz/$fuzzer" "${options[@]}" "$found" "tests/fuzz/corpus/$fuzzer" 2>&1 |
    grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|RELOAD)' || fail "$fuzzer found something: see above"
done
