#!/usr/bin/env bash
# ./dev release [FOLDER]: makes everything that a release is, into FOLDER (build/release-VERSION), and
# checks it. Uploads nothing: it ends by printing the commands that do. The steps before it, and
# what is to be done by hand, are in docs/releasing.md.
set -euo pipefail
source tools/dev/common.sh

version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
folder=$PWD/${1:-build/release-$version}
need build python packages docs
tools/dev/check_release.py
[ -z "$(git status --porcelain)" ] || fail "the checkout has changes that are not committed"
rm -rf "$folder"
mkdir -p "$folder/work"
tools/dev/check_release.py --notes >"$folder/notes.md" ||
  fail "CHANGELOG.md has no section for $version: tools/dev/check_release.py --set $version writes it"

say "the source archive, and that it builds alone"
name=gpu-similarity-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$folder/$name.tar.gz"
tar --extract --gzip --directory "$folder/work" --file "$folder/$name.tar.gz"
(
  cd "$folder/work/$name"
  # Away from the checkout: nothing of it is found by a path that goes up.
  cmake --preset static-cli >configure.log
  cmake --build --preset static-cli --parallel "$(build_jobs)" >build.log || { tail -30 build.log; exit 1; }
) || fail "the source archive does not build"
static=$folder/work/$name/build/static-cli/src/cli/gpu-similarity
strip --strip-all -o "$folder/gpu-similarity-$version-linux-$(uname -m)" "$static"
file "$static" | grep -q "statically linked" || fail "the command is not statically linked"
"$folder/gpu-similarity-$version-linux-$(uname -m)" info

say "the Python package"
DEV_PYTHON_DIR=build/python-package ./dev python
cp build/python-package/dist/*.tar.gz "$folder/"
mkdir "$folder/wheels-of-this-machine"
cp build/python-package/dist/*.whl "$folder/wheels-of-this-machine/"

say ".deb files"
./dev packages
cp build/packages/debs/*.deb "$folder/"

say "the site"
./dev docs
tar --create --gzip --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 \
  --directory build/docs/html --file "$folder/site-$version.tar.gz" .

rm -rf "$folder/work"
(cd "$folder" && find . -maxdepth 1 -type f -name 'gpu-similarity*' -o -maxdepth 1 -name '*.deb' |
  sort | xargs sha256sum >SHA256SUMS)
say "made in $folder"
ls -l "$folder"
cat <<TEXT

What is left, by hand:
  git tag --sign v$version --file $folder/notes.md && git push origin v$version
      the workflow 'wheels' builds, tests and uploads the wheels and the source distribution
  gh release create v$version --notes-file $folder/notes.md $folder/*.tar.gz $folder/*.deb \\
      $folder/gpu-similarity-$version-linux-* $folder/SHA256SUMS
  the recipes of packaging/: see docs/releasing.md
TEXT
