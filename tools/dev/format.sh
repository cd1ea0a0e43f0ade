#!/usr/bin/env bash
# ./dev format [--check]: clang-format over every source. Its version is fixed here, because versions
# lay out the same file differently; pip brings it.
set -euo pipefail
source tools/dev/common.sh

version=19.1.7
tools=build/format-$version
if [ ! -x "$tools/bin/clang-format" ]; then
  need format
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "clang-format==$version"
fi
mapfile -t files < <(git ls-files '*.hpp' '*.cpp' '*.cuh' '*.cu')
case ${1:-} in
  --check) "$tools/bin/clang-format" --dry-run --Werror "${files[@]}" && say "${#files[@]} files are formatted" ;;
  "") "$tools/bin/clang-format" -i "${files[@]}" ;;
  *) fail "format: unknown argument '$1', expected --check or nothing" ;;
esac
