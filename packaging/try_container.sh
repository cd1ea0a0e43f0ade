#!/usr/bin/env bash
# try_container.sh [BASE]: builds the image of packaging/Containerfile by buildah and runs the command in it. Needs
# root. BASE is an image of Debian 12; without it one is made by debootstrap, so that no registry is asked.
# Programs run by chroot, without namespaces: this works inside a container or a sandbox, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base=${1:-}
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

if [ -z "$base" ]; then
  base=localhost/debian:12
  debootstrap --variant=minbase bookworm "$work/root" "${MIRROR:-http://deb.debian.org/debian}" >"$work/log" ||
    { tail -5 "$work/log"; exit 1; }
  tar --create --directory "$work/root" --file "$work/root.tar" .
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$work/root.tar" / >/dev/null
  buildah commit --quiet --rm "$container" "$base" >/dev/null
fi
buildah build --layers=false --network host --build-arg BASE="$base" --build-arg RUNTIME="$base" \
  --file packaging/Containerfile --tag localhost/gpu-similarity .
container=$(buildah from localhost/gpu-similarity)
buildah run "$container" gpu-similarity info
buildah add --quiet "$container" examples/data/fashion_5000x30.txt /data/table.txt >/dev/null
buildah run "$container" gpu-similarity spearman table.txt --max-p 0.05 --adjust bonferroni --quiet --output edges.tsv.zst
buildah run "$container" test -s edges.tsv.zst
folder=$(buildah mount "$container")
tests/package/check_notices.sh "$folder/usr/local/share/doc/gpu_similarity/THIRD_PARTY_NOTICES"
buildah rm "$container" >/dev/null
echo "-- the image localhost/gpu-similarity works: $(buildah images --format '{{.Size}}' localhost/gpu-similarity)"
