#!/usr/bin/env bash
# ./dev format [--check]: clang-format 14, the version of both systems, over every source.
set -euo pipefail
source tools/dev/common.sh

need format
mapfile -t files < <(git ls-files '*.hpp' '*.cpp' '*.cuh' '*.cu')
case ${1:-} in
  --check) clang-format-14 --dry-run --Werror "${files[@]}" && say "${#files[@]} files are formatted" ;;
  "") clang-format-14 -i "${files[@]}" ;;
  *) fail "format: unknown argument '$1', expected --check or nothing" ;;
esac
