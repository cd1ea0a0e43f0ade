#!/usr/bin/env bash
# consume_install.sh BUILD SCRATCH GENERATOR: installs the build tree BUILD, moves the installation
# elsewhere, lets the find_package consumer use it there and runs the consumer and the command.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
scratch=$2
generator=$3

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/staged" >/dev/null
mv "$scratch/staged" "$scratch/prefix"
if grep -rlF "$build" "$scratch/prefix" --include='*.cmake'; then
  echo "the files above hold a path of the build tree"
  exit 1
fi
cmake -S "$here/find_package" -B "$scratch/consumer" -G "$generator" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/consumer"
"$scratch/consumer/consumer"
command="$scratch/prefix/bin/gpu-similarity"
if [ -x "$command" ]; then "$command" info; fi
