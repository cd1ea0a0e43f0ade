#!/usr/bin/env bash
# consume_install.sh BUILD SCRATCH GENERATOR: installs the build tree BUILD, moves the installation
# elsewhere, lets the find_package consumer and one that pkg-config describes use it there, and runs
# both and the command.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
scratch=$2
generator=$3

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/staged" >/dev/null
mv "$scratch/staged" "$scratch/prefix"
if grep -rlF "$build" "$scratch/prefix" --include='*.cmake' --include='*.pc'; then
  echo "the files above hold a path of the build tree"
  exit 1
fi
cmake -S "$here/find_package" -B "$scratch/consumer" -G "$generator" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/consumer"
"$scratch/consumer/consumer"

# The same program by pkg-config, where there is one.
if command -v pkg-config >/dev/null; then
  pc=$(find "$scratch/prefix" -name gpu-similarity.pc)
  export PKG_CONFIG_PATH=${pc%/*}
  # CUDA's own folder is not searched unless it is named.
  cuda=${CUDA_HOME:-/usr/local/cuda}/lib64
  # shellcheck disable=SC2046  # flags are words
  "${CXX:-c++}" -std=c++20 "$here/consumer.cpp" -o "$scratch/by_pkg_config" \
    $(pkg-config --cflags --libs gpu-similarity) -L"$cuda" \
    -Wl,-rpath,"$(pkg-config --variable=libdir gpu-similarity)"
  "$scratch/by_pkg_config"
  pkg-config --modversion gpu-similarity
fi
for file in LICENSE THIRD_PARTY_NOTICES; do
  [ -n "$(find "$scratch/prefix" -name $file)" ] || { echo "$file is not installed"; exit 1; }
done
"$here/check_notices.sh" "$(find "$scratch/prefix" -name THIRD_PARTY_NOTICES)"
command="$scratch/prefix/bin/gpu-similarity"
if [ -x "$command" ]; then "$command" info; fi
