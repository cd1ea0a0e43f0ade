#!/usr/bin/env bash
# consume_sources.sh SCRATCH [CMAKE ARGUMENTS]: builds and runs the add_subdirectory consumer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$1
shift

cmake -S "$here/add_subdirectory" -B "$scratch" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
cmake --build "$scratch" --parallel "$(nproc)"
"$scratch/consumer"
