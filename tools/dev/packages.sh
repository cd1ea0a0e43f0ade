#!/usr/bin/env bash
# ./dev packages [BUILD]: .deb files of the library, its headers and the command, installed, used and
# removed in a fresh Debian 12. BUILD is a shared build that is there already; without it one is made
# in build/packages, with the CUDA backend where nvcc is found unless GPU_SIMILARITY_ENABLE_CUDA=OFF.
set -euo pipefail
source tools/dev/common.sh

folder=${1:-}
need build packages
if [ -z "$folder" ]; then
  folder=build/packages
  configure "$folder" -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX=/usr -DGPU_SIMILARITY_BUILD_TESTS=OFF \
    -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
    -DGPU_SIMILARITY_ENABLE_CUDA="${GPU_SIMILARITY_ENABLE_CUDA:-AUTO}"
  build "$folder"
fi
say "packing $folder"
rm -f "$folder"/*.deb
(cd "$folder" && cpack -G DEB >cpack.log) || { cat "$folder/cpack.log"; fail "cpack failed"; }
mkdir -p "$folder/debs"
rm -f "$folder"/debs/*
mv "$folder"/*.deb "$folder"/debs/
ls -l "$folder/debs"
if [ "$(id -u)" -ne 0 ]; then
  say "not installed: a fresh Debian takes root"
  exit 0
fi
say "in a fresh system"
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
tests/package/install_debs.sh "$folder/debs" "$scratch/root"
