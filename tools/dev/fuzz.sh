#!/usr/bin/env bash
# ./dev fuzz [SECONDS [FUZZER...]]: builds the fuzzers (all where none is named) and runs each on its kept
# corpus, as many at a time as there are cores. An input that is found is kept in the build folder; the
# program takes its name to repeat it. FUZZ_SEED=N walks the same inputs each time, as CI does: what a
# new seed finds is for the night, not for the change that happens to be tested.
set -euo pipefail
source tools/dev/common.sh

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "fuzz: got '$seconds', expected a number of seconds"
folder=${DEV_BUILD_DIR:-build/asan}
all=(fuzz_text fuzz_fingerprints fuzz_npy fuzz_sparse fuzz_gzip fuzz_options fuzz_operations)
fuzzers=("${@:2}")
[ ${#fuzzers[@]} -gt 0 ] || fuzzers=("${all[@]}")
for fuzzer in "${fuzzers[@]}"; do
  [[ " ${all[*]} " == *" $fuzzer "* ]] || fail "fuzz: got '$fuzzer', expected some of ${all[*]}"
done
need build test tsan fuzz
configure "$folder" --preset asan -DCMAKE_BUILD_TYPE=RelWithDebInfo
build "$folder" "${fuzzers[@]}"

export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# To note where each block of memory was taken is a third of the time; a finding's input, run again
# without this, tells it.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=8
# fuzz_one FUZZER: what it says goes to a file beside it.
fuzz_one() {
  local fuzzer=$1
  local at=$folder/tests/fuzz/$fuzzer
  local options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -entropic=0 -detect_leaks=0
    -close_fd_mask=1 -print_final_stats=1 -artifact_prefix="$at-")
  [ -z "${FUZZ_SEED:-}" ] || options+=(-seed="$FUZZ_SEED")
  [ -f "tests/fuzz/$fuzzer.dict" ] && options+=(-dict="tests/fuzz/$fuzzer.dict")
  mkdir -p "$at.corpus"
  "$at" "${options[@]}" "$at.corpus" "tests/fuzz/corpus/$fuzzer" >"$at.log" 2>&1
}

# As many at a time as there are cores; none outlives this script.
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
declare -A running=()
for fuzzer in "${fuzzers[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do sleep 0.2; done
  say "$fuzzer for $seconds s"
  fuzz_one "$fuzzer" &
  running[$fuzzer]=$!
done
findings=()
for fuzzer in "${fuzzers[@]}"; do
  if wait "${running[$fuzzer]}"; then
    say "$fuzzer: $(awk '/number_of_executed_units/ { print $2 }' "$folder/tests/fuzz/$fuzzer.log") inputs, no finding"
  else
    grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|RELOAD)' "$folder/tests/fuzz/$fuzzer.log" || true
    findings+=("$fuzzer")
  fi
done
[ ${#findings[@]} -eq 0 ] || fail "findings of ${findings[*]}: see above"
