#!/usr/bin/env bash
# check_binaries.sh BUILD HARDENING: looks at what was built. No program and no library may look for
# libraries in the current folder; with HARDENING the command has its protections; a shared library
# exports names of gpu alone, beside what the standard library's own templates leave everywhere, and the
# functions that symbols.txt lists. check_binaries.sh --update BUILD writes this list anew.
set -euo pipefail
# The functions and variables of a shared library, without templates and inline functions, which compilers export as
# they like. Long types by their names in the sources.
symbols_of() {
  nm -DC --defined-only "$1/src/libgpu_similarity.so" | sed -nE 's/^[0-9a-f]+ [TDBR] (gpu::.*)/\1/p' |
    sed -E 's/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g
      s/std::variant<gpu::v0::basic_matrix_view<signed char .*::column_list_view<unsigned long const> >/any_table/
      s/, 18446744073709551615ul>/>/g; s/gpu::v0:://g' | LC_ALL=C sort -u
}
list=$(dirname "${BASH_SOURCE[0]}")/symbols.txt
if [ "$1" = --update ]; then
  symbols_of "$2" >"$list"
  exit
fi
build=$1
hardening=$2
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }

failed=0
complain() {
  echo "$*"
  failed=1
}

# An empty entry, a dot or a relative path of a RUNPATH is the current folder, or below it.
checked=0
while IFS= read -r -d '' file; do
  readelf -h "$file" >/dev/null 2>&1 || continue
  checked=$((checked + 1))
  path=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]$/\2/p')
  [ -n "$path" ] || continue
  while IFS= read -r entry; do
    case $entry in
      /* | '$ORIGIN' | '$ORIGIN'/*) ;;
      *) complain "$file: RUNPATH '$path' has the entry '$entry'" ;;
    esac
  done < <(tr ':' '\n' <<<"$path")
done < <(find "$build" \( -name CMakeFiles -o -name package \) -prune -o -type f \
  \( -perm -u+x -o -name '*.so*' \) -print0)
[ "$checked" -gt 0 ] || complain "$build: no program and no library was found"

program=$build/src/cli/gpu-similarity
if [ -x "$program" ] && [[ $hardening =~ ^(ON|1|TRUE)$ ]]; then
  symbols=$(readelf -sW "$program")
  header=$(readelf -hlW "$program")
  dynamic=$(readelf -dW "$program")
  # A build under a sanitizer has protections of its own.
  if ! grep -q '__asan_init\|__tsan_init' <<<"$symbols"; then
    grep -q 'Type: *DYN' <<<"$header" || complain "$program: is not position independent"
    grep -q GNU_RELRO <<<"$header" || complain "$program: has no RELRO"
    grep -q 'BIND_NOW\|Flags:.*NOW' <<<"$dynamic" || complain "$program: is bound lazily"
    grep -q 'GNU_STACK.* RW ' <<<"$header" || complain "$program: its stack is executable"
    grep -q '__stack_chk_fail' <<<"$symbols" || complain "$program: has no stack protector"
  fi
fi

library=$build/src/libgpu_similarity.so
if [ -f "$library" ]; then
  others=$(nm -DC --defined-only "$library" |
    grep -vE ' (gpu::|(typeinfo|typeinfo name|vtable|guard variable) for gpu::|operator|non-virtual thunk to gpu::)' |
    grep -vE ' [WVu] .*(std::|__gnu_cxx::)|^ *[0-9a-f]+ [Aw] ' || true)
  if ! changes=$(diff "$list" <(symbols_of "$build")); then
    complain "$library: what it exports is not in tests/package/symbols.txt (> new, < gone):"$'\n'"$(grep '^[<>]' <<<"$changes")"
    complain "If the change of the interface is meant: tests/package/check_binaries.sh --update $build"
  fi
  if [ -n "$others" ]; then complain "$library exports more than names of gpu:"$'\n'"$(head -20 <<<"$others")"; fi
fi
[ $failed -eq 0 ] && echo "$checked programs and libraries looked at"
exit $failed
