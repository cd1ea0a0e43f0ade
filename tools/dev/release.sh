#!/usr/bin/env bash
# ./dev release [FOLDER]: makes everything that a release is, into FOLDER (build/release-VERSION), and
# checks it. Uploads nothing: it ends by printing the commands that do. The steps before it, and
# what is to be done by hand, are in docs/releasing.md. Takes root for fresh systems. With CUDA where nvcc is
# found, for every architecture that the kernels know; a rehearsal is quicker with GPU_SIMILARITY_ENABLE_CUDA=OFF, or
# with CMAKE_CUDA_ARCHITECTURES.
set -euo pipefail
source tools/dev/common.sh

version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
folder=$(realpath --canonicalize-missing "${1:-build/release-$version}")
need build python packages docs
tools/dev/release/check_release.py
[ -z "$(git status --porcelain)" ] || fail "the checkout has changes that are not committed"
rm -rf "$folder"
mkdir -p "$folder"
tools/dev/release/check_release.py --notes >"$folder/notes.md" ||
  fail "CHANGELOG.md has no section for $version: tools/dev/release/check_release.py --set $version writes it"
find_nvcc
export GPU_SIMILARITY_REQUIRE_FRESH_SYSTEM=1
if [ -z "${GPU_SIMILARITY_ENABLE_CUDA:-}" ]; then
  GPU_SIMILARITY_ENABLE_CUDA=$(has_nvcc && echo ON || echo OFF)
fi
export GPU_SIMILARITY_ENABLE_CUDA
if [ "$GPU_SIMILARITY_ENABLE_CUDA" = ON ]; then
  # The list of gpu_similarity_release_architectures.
  release_list=$(sed -n 's/^ *\(set(list\|list(APPEND list\) \(.*\))$/\2/p' cmake/CudaSupport.cmake | paste -sd' ')
  [ -z "$release_list" ] || release_list="${release_list// /;};90-virtual"
  export CMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES:-$release_list}
  [ -n "$CMAKE_CUDA_ARCHITECTURES" ] || fail "cmake/CudaSupport.cmake names no architectures"
fi
# Outside the checkout: nothing of it is found by a path that goes up.
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

say "the source archive, and that it builds alone"
name=gpu-similarity-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$folder/$name.tar.gz"
tar --extract --gzip --directory "$scratch" --file "$folder/$name.tar.gz"
(
  cd "$scratch/$name"
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  cmake --preset static-cli -DGPU_SIMILARITY_ENABLE_ZSTD=ON >configure.log
  cmake --build --preset static-cli --parallel "$(build_jobs)" >build.log || { tail -30 build.log; exit 1; }
) || fail "the source archive does not build"

say "the static command"
built=$scratch/$name/build/static-cli/src/cli
static=$name-linux-$(uname -m)
mkdir "$scratch/$static"
strip --strip-all -o "$scratch/$static/gpu-similarity" "$built/gpu-similarity"
cp LICENSE THIRD_PARTY_NOTICES "$built/pages/gpu-similarity.1" "$scratch/$static/"
mkdir "$scratch/$static/completions"
cp "$built/pages/gpu-similarity" "$built/pages/_gpu-similarity" "$scratch/$static/completions/"
file "$scratch/$static/gpu-similarity" | grep -q "statically linked" || fail "the command is not statically linked"
tests/package/check_notices.sh "$scratch/$static/THIRD_PARTY_NOTICES"
"$scratch/$static/gpu-similarity" info
# Every block of shell of the documentation, with a file of zstd beside them.
python3 tests/docs/command_blocks.py "$scratch/$static/gpu-similarity" .
"$scratch/$static/gpu-similarity" pearson examples/data/fashion_5000x30.txt --min-abs 0.95 --quiet \
  --output "$scratch/edges.tsv.zst"
[ -s "$scratch/edges.tsv.zst" ] || fail "the static command wrote no .zst"
tar --create --gzip --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 \
  --directory "$scratch" --file "$folder/$static.tar.gz" "$static"

say "the Python package"
DEV_PYTHON_DIR=build/python-package ./dev python
cp build/python-package/dist/*.tar.gz "$folder/"
sdist=$(echo "$folder"/gpu_similarity-*.tar.gz)
tools/dev/release/of_this_machine.sh "$sdist" build/wheels
mkdir "$folder/wheels-of-this-machine"
cp build/wheels/dist/*.whl "$folder/wheels-of-this-machine/"
say "the source distribution in a fresh Debian that has a compiler and Python"
tests/package/install_sdist.sh "$sdist" "$scratch/debian"
say "a wheel for manylinux_2_28"
tools/dev/release/wheel_2_28.sh "$sdist" build/wheel_2_28

say ".deb files"
./dev packages
cp build/packages/debs/*.deb "$folder/"

say "the site"
./dev docs
tar --create --gzip --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 \
  --directory build/docs/html --file "$folder/site-$version.tar.gz" .

# Everything that is uploaded by hand; the wheels of a release are those of the workflow.
(cd "$folder" && sha256sum -- *.tar.gz *.deb >SHA256SUMS)
for kind in "$name.tar.gz" "$static.tar.gz" "gpu_similarity-$version.tar.gz" "site-$version.tar.gz" '.*\.deb'; do
  grep -q "  $kind\$" "$folder/SHA256SUMS" || fail "SHA256SUMS lacks $kind"
done
say "made in $folder"
ls -l "$folder"
cat <<TEXT

What is left, by hand:
  git tag --sign v$version --file $folder/notes.md && git push origin v$version
      the workflow 'wheels' builds, tests and uploads the wheels and the source distribution
  gh release create v$version --notes-file $folder/notes.md $folder/*.tar.gz $folder/*.deb $folder/SHA256SUMS
  the recipes of packaging/: see docs/releasing.md
TEXT
