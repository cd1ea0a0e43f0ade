#!/usr/bin/env bash
# tools/dev/python/stub.sh PYTHON: the types of the compiled module, as python/gpu_similarity/_core.pyi
# has them, from the package that PYTHON imports. nanobind knows no more of an argument than "a dict".
set -euo pipefail

stub=$(mktemp)
trap 'rm -f "$stub"' EXIT
"$1" -m nanobind.stubgen --quiet -m gpu_similarity._core -o "$stub"
sed -E -e 's/\bdict\b/dict[str, Any]/g' -e 's/\btuple\b/tuple[Any, ...]/g' -e 's/\blist\b/list[Any]/g' \
  -e 's/: object/: Any/g' -e 's/-> object/-> Any/' -e "s/^version: str = .*/version: str/" \
  -e '1s/$/\n\nfrom typing import Any/' "$stub" | cat -s
