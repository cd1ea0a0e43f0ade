#!/usr/bin/env bash
# ./dev architectures [ARCHITECTURE...]: compiles the kernels that differ between architectures for each of
# these (75 80 120), with warnings as errors. Needs nvcc, but no GPU.
set -euo pipefail
source tools/dev/common.sh

need build
find_nvcc
has_nvcc || { say "no nvcc: nothing is compiled"; exit 0; }
folder=${DEV_BUILD_DIR:-build/test}
[ -f "$folder/compile_commands.json" ] || configure "$folder" -DGPU_SIMILARITY_WERROR=ON
exec python3 tools/dev/gpu/architectures.py "$folder" "$@"
