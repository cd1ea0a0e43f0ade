#!/usr/bin/env bash
# install_debs.sh FOLDER ROOT: installs the .deb files of FOLDER in a fresh Debian or Ubuntu of the
# version of this machine (debootstrap, into ROOT), runs the command, builds the consumer by CMake and by
# pkg-config, removes the packages, and looks for what they left. Needs root. Where a fresh system cannot
# be made, as in a container without privileges, dpkg installs them beside the files of this machine, in
# ROOT, without their dependencies; with GPU_SIMILARITY_REQUIRE_FRESH_SYSTEM=1 that is a failure instead.
# MIRROR is the archive, or a nearer copy.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$1" && pwd)
root=$2
mapfile -t packages < <(for deb in "$folder"/*.deb; do dpkg-deb --field "$deb" Package; done)
table=$here/../../examples/data/fashion_5000x30.txt

quietly() { "$@" >"$root.log" 2>&1 || { tail -20 "$root.log"; echo "failed: $*"; exit 1; }; }

# make_system: whether there is a system in ROOT.
make_system() {
  [ -x "$root/usr/bin/dpkg" ] && return
  local mirror=${MIRROR:-http://deb.debian.org/debian} components=main name id
  id=$(. /etc/os-release && echo "$ID") name=$(. /etc/os-release && echo "$VERSION_CODENAME")
  if [ "$id" = ubuntu ]; then
    mirror=${MIRROR:-http://archive.ubuntu.com/ubuntu} components=main,universe
  fi
  debootstrap --variant=minbase --components="$components" "$name" "$root" "$mirror" >"$root.log" 2>&1
}

# left_behind: the files of LIST that are in ROOT and belong to nothing.
left_behind() {
  local file
  while read -r file; do
    if [ -f "$root$file" ] || [ -L "$root$file" ]; then
      dpkg --root="$root" --search "$file" >/dev/null 2>&1 || echo "$file"
    fi
  done <"$root.files"
  [ ! -e "$root/usr/include/gpu" ] || echo "/usr/include/gpu"
}

nothing_is_left() {
  local left
  left=$(left_behind)
  [ -z "$left" ] || { printf 'left behind:\n%s\n' "$left"; exit 1; }
  echo "-- removed without a trace: ${packages[*]}"
}

have_copyright() {
  local files=("${packages[@]/#/$root/usr/share/doc/}")
  "$here/check_notices.sh" "${files[@]/%//copyright}"
}

inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" "$@"
}

in_a_fresh_system() {
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  rm -rf "$root/debs"
  mkdir -p "$root/debs"
  cp "$folder"/*.deb "$root/debs/"
  cp -r "$here" "$root/debs/consumer"
  cp "$table" "$root/debs/table.txt"
  quietly inside apt-get update
  quietly inside sh -c 'apt-get install --yes --no-install-recommends /debs/*.deb'
  echo "-- installed in a fresh system: ${packages[*]}"
  have_copyright
  inside gpu-similarity --version
  inside gpu-similarity pearson /debs/table.txt --min-abs 0.9 --keep counts --output /debs/counts.txt
  quietly inside apt-get install --yes --no-install-recommends g++ make cmake pkg-config
  quietly inside cmake -S /debs/consumer/find_package -B /debs/build
  quietly inside cmake --build /debs/build
  inside /debs/build/consumer
  # shellcheck disable=SC2016  # expanded inside
  inside sh -c 'c++ -std=c++20 /debs/consumer/consumer.cpp -o /debs/by_pkg_config \
    $(pkg-config --cflags --libs gpu-similarity) && /debs/by_pkg_config'
  inside dpkg --listfiles "${packages[@]}" | sort -u >"$root.files"
  quietly inside apt-get purge --yes "${packages[@]}"
  nothing_is_left
}

beside_this_one() {
  local alone=(dpkg --root="$root" --force-depends --force-script-chrootless)
  rm -rf "$root"
  mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  quietly "${alone[@]}" --install "$folder"/*.deb
  echo "-- installed beside this system: ${packages[*]}"
  have_copyright
  local libraries
  libraries=$(dirname "$(find "$root/usr/lib" -name 'libgpu_similarity.so.*' | head -1)")
  export LD_LIBRARY_PATH=$libraries
  "$root/usr/bin/gpu-similarity" pearson "$table" --min-abs 0.9 --keep counts --output "$root/counts.txt"
  quietly cmake -S "$here/find_package" -B "$root.consumer" -DCMAKE_PREFIX_PATH="$root/usr"
  quietly cmake --build "$root.consumer"
  "$root.consumer/consumer"
  dpkg --root="$root" --listfiles "${packages[@]}" | sort -u >"$root.files"
  quietly "${alone[@]}" --purge "${packages[@]}"
  nothing_is_left
}

if make_system; then
  in_a_fresh_system
else
  echo "-- no fresh system can be made here: $(tail -1 "$root.log")"
  if [ "${GPU_SIMILARITY_REQUIRE_FRESH_SYSTEM:-0}" = 1 ]; then
    echo "failed: GPU_SIMILARITY_REQUIRE_FRESH_SYSTEM is set"
    exit 1
  fi
  beside_this_one
fi
