#!/usr/bin/env bash
# ./dev tidy [FILE... | --changed]: clang-tidy, with the checks of .clang-tidy, on the sources of the
# CPU build: all, those named, or those that the newest commit changed, at most 40 of them. All 163
# take 560 s of processor time, under five minutes on two cores; 40 about one minute.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/tidy}
need build tidy
configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=OFF -DGPU_SIMILARITY_BUILD_BENCH=OFF \
  -DGPU_SIMILARITY_BUILD_TESTS=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF
all_sources() {
  python3 -c 'import json, sys; print(*sorted({e["file"] for e in json.load(open(sys.argv[1]))}), sep="\n")' \
    "$folder/compile_commands.json" | grep "^$PWD/src/"
}
if [ $# -eq 0 ]; then
  mapfile -t files < <(all_sources)
elif [ "$1" = --changed ]; then
  # A clone of one commit has nothing to compare with.
  mapfile -t files < <(
    { git diff --name-only --diff-filter=d HEAD^ HEAD -- 'src/*.cpp' 2>/dev/null || true; } |
      sed "s,^,$PWD/," | grep -Fxf <(all_sources) | head -n 40
  )
  if [ ${#files[@]} -eq 0 ]; then
    say "the newest commit changed no source of the CPU build"
    exit 0
  fi
else
  files=("$@")
fi
printf '%s\n' "${files[@]}" |
  xargs --max-procs="${DEV_JOBS:-$(nproc)}" --max-args=2 clang-tidy-14 -p "$folder" --quiet
say "${#files[@]} files are as .clang-tidy wants them"
