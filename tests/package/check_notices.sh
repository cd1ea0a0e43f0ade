#!/usr/bin/env bash
# check_notices.sh FILE...: the notices of a binary package. Each file must have a section, with its licence, for
# every software of others that a package may hold, and none that is empty.
set -euo pipefail
names=(fmt CLI11 zlib zstd nanobind robin-map OpenBLAS libgomp libgfortran libquadmath libstdc++ libgcc
  "CUDA Runtime" CCCL glibc)
failed=0
for file in "$@"; do
  # A heading stands between two bars; behind it 'Where:', 'Licence:' and a copyright.
  headings=$(awk '/^=+$/ { bar = !bar; next } bar' "$file")
  for name in "${names[@]}"; do
    grep -qwF -- "$name" <<<"$headings" || { echo "$file: no section about $name"; failed=1; }
  done
  awk -v file="$file" '
    function close_section() { if (title != "" && (!where || !licence || !copyright)) {
      print file ": the section of " title " lacks Where, Licence or a copyright"; bad = 1 } }
    /^=+$/ { bar = !bar; next }
    bar { close_section(); title = $0; where = licence = copyright = 0; next }
    /^Where: ./ { where = 1 } /^Licence: ./ { licence = 1 } /^Copyright / { copyright = 1 }
    END { close_section(); exit bad }' "$file" || failed=1
done
[ $failed -eq 0 ] && echo "-- notices of ${#names[@]} parts in each of $# files"
exit $failed
