#!/usr/bin/env bash
# ./dev torture [MINUTES [CAMPAIGN...]]: builds the campaigns of random faults and random jobs and runs
# them one after the other (all where none is named) for MINUTES (10) in all, from seeds that nobody drew
# before. A campaign is a test program that takes --seconds and --seed. With 10 minutes or more, every call
# on a file of a job in parts also fails once, and is once where the process is killed, and so does every call
# of jobs in one piece, of each verb and input (another 15 minutes).
# It ends with an error where something is wrong, and says what repeats it.
set -euo pipefail
source tools/dev/common.sh

campaigns=(parts_model_test part_faults_test pair_soak_test)

minutes=${1:-10}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || fail "torture: got '$minutes', expected a number of minutes"
chosen=("${@:2}")
[ ${#chosen[@]} -gt 0 ] || chosen=("${campaigns[@]}")
for campaign in "${chosen[@]}"; do
  [[ " ${campaigns[*]} " == *" $campaign "* ]] ||
    fail "torture: got '$campaign', expected some of ${campaigns[*]}"
done
folder=${DEV_BUILD_DIR:-build/test}
need build test
configure "$folder" -DGPU_SIMILARITY_BUILD_TESTS=ON
build "$folder" "${chosen[@]}"

# Threads that spin while they wait would take the time of the other processes.
seconds=$((60 * minutes / ${#chosen[@]}))
failed=()
if [[ " ${chosen[*]} " == *" part_faults_test "* ]] && [ "$minutes" -ge 10 ]; then
  say "part_faults_test: every call on a file of every job"
  "$folder/tests/part_faults_test" --sweep all || failed+=("the sweep of part_faults_test")
  say "file_faults_test: every call on a file of every verb and input"
  build "$folder" file_faults_test
  "$folder/tests/file_faults_test" "[campaign]" || failed+=("the sweep of file_faults_test")
fi
for campaign in "${chosen[@]}"; do
  say "$campaign for $seconds s"
  "$folder/tests/$campaign" --seconds "$seconds" --seed "$(date +%s)000000" || failed+=("$campaign")
done
[ ${#failed[@]} -eq 0 ] || fail "findings of ${failed[*]}: see above"
