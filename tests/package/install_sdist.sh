#!/usr/bin/env bash
# install_sdist.sh SDIST ROOT: installs the source distribution by pip in a fresh Debian 12 (debootstrap, into
# ROOT) that has a compiler, Python and nothing else: no CMake, no fmt, no OpenBLAS. Uses the package there.
# Needs root and PyPI. MIRROR is the archive, or a nearer copy.
set -euo pipefail
sdist=$(realpath "$1")
root=$2

if [ ! -x "$root/usr/bin/g++" ]; then
  debootstrap --variant=minbase --include=g++,python3-dev,python3-venv,ca-certificates bookworm "$root" \
    "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
    { tail -5 "$root.log"; echo "failed: no fresh Debian can be made here"; exit 1; }
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
# What this machine trusts, the fresh one does, too: a proxy may have a certificate of its own.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root/sdist"
mkdir "$root/sdist"
cp "$sdist" "$root/sdist/"

cat >"$root/sdist/use.py" <<'PYTHON'
import gpu_similarity as gs

print(gs.__version__, gs.__file__, [b.name for b in gs.backends() if b.usable])
assert len(gs.spearman_edges([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])) == 3
assert round(gs.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]).statistic, 6) == 0.820783
PYTHON
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PIP_DEFAULT_TIMEOUT=180 \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" "$@"
}
for absent in cmake ninja; do
  if inside which $absent >/dev/null; then echo "failed: $absent is in $root: it is not fresh"; exit 1; fi
done
[ ! -e "$root/usr/include/fmt" ] || { echo "failed: fmt is in $root: it is not fresh"; exit 1; }
inside python3 -m venv --clear /sdist/venv
inside sh -c '/sdist/venv/bin/pip install --verbose /sdist/*.tar.gz' >"$root.log" 2>&1 ||
  { tail -40 "$root.log"; echo "failed: pip install"; exit 1; }
inside /sdist/venv/bin/python /sdist/use.py
echo "-- the source distribution builds with a compiler and what pip brings"
