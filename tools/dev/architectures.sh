#!/usr/bin/env bash
# ./dev architectures [ARCHITECTURE...]: compiles the kernels that differ between architectures for each of
# these (75 80 120), with warnings as errors; and configures the two lists that users take, of a default build and of
# a release, by both generators, and compiles the file that holds the list. Needs nvcc, but no GPU.
set -euo pipefail
source tools/dev/common.sh

need build
find_nvcc
has_nvcc || { say "no nvcc: nothing is compiled"; exit 0; }
folder=${DEV_BUILD_DIR:-build/test}
[ -f "$folder/compile_commands.json" ] || configure "$folder" -DGPU_SIMILARITY_WERROR=ON
python3 tools/dev/gpu/architectures.py "$folder" "$@"

# A checkout's builds are for one architecture; those of users are for a list.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for generator in "Unix Makefiles" Ninja; do
  for release in OFF ON; do
    say "the list of $([ "$release" = ON ] && echo "a release" || echo "a default build"), by $generator"
    lists=$scratch/${generator%% *}-$release
    env -u CMAKE_CUDA_ARCHITECTURES cmake -S . -B "$lists" -G "$generator" -DGPU_SIMILARITY_ENABLE_CUDA=ON \
      -DGPU_SIMILARITY_RELEASE_ARCHITECTURES="$release" -DGPU_SIMILARITY_BUILD_TESTS=OFF >"$lists.log" ||
      { cat "$lists.log"; fail "does not configure"; }
    object=src/CMakeFiles/gpu_similarity.dir/base/built_code.cpp.o
    if [ "$generator" = Ninja ]; then
      ninja -C "$lists" "$object"
    else
      make --no-print-directory -C "$lists" -f src/CMakeFiles/gpu_similarity.dir/build.make "$object"
    fi
    # The list as the library has it: every entry, in one string.
    expected=$(sed -n 's/.*gpu_similarity: .* Architectures //p' "$lists.log" | tr ';' ',')
    strings "$lists/$object" | grep -Fxq "$expected" || fail "the library does not hold the list $expected"
  done
done
