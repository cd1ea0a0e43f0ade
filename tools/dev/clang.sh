#!/usr/bin/env bash
# ./dev clang: the CPU build by clang++ with warnings as errors, each file of the library, the file
# formats and the command checked by clang-tidy, and one program of tests run.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/clang}
need build test tidy
configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=OFF -DGPU_SIMILARITY_WERROR=ON \
  -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
  -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@"
build "$folder" gpu-similarity spearman_test
"$folder/tests/spearman_test"
say "clang-tidy over the library, the file formats and the command"
# The loops of single instruction sets are left out: clang-tidy reads one target's flags.
mapfile -t files < <(git ls-files 'src/*.cpp' |
  grep -vE '_(avx2|avx512|avx512_vnni|amx|baseline)\.cpp$|/(avx2|avx512|baseline|amx_probe)\.cpp$|^src/(cuda|cuda_runtime)/|_absent\.cpp$|base/fmt\.cpp')
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p "$folder" 2>/dev/null
say "${#files[@]} files are tidy"
