#!/usr/bin/env bash
# install_debs.sh FOLDER [ROOT]: installs the .deb files of FOLDER in a fresh Debian 12 (debootstrap,
# into ROOT), runs the command, builds the consumer by CMake and by pkg-config, removes the packages,
# and looks for what they left. Needs root. MIRROR is Debian's archive, or a nearer copy.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$1" && pwd)
root=${2:-$(mktemp -d)/root}
mirror=${MIRROR:-http://deb.debian.org/debian}

if [ ! -x "$root/usr/bin/dpkg" ]; then
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -20 "$root.log"; exit 1; }
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Settings and keys of a mirror, where this machine has such.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" "$@"
}
mkdir -p "$root/debs"
rm -f "$root"/debs/*
cp "$folder"/*.deb "$root/debs/"
cp -r "$here" "$root/debs/consumer"
cp "$here/../../examples/data/fashion_5000x30.txt" "$root/debs/table.txt"
mapfile -t packages < <(for deb in "$folder"/*.deb; do dpkg-deb --field "$deb" Package; done)

inside apt-get -qq update
inside sh -c 'apt-get install -qq --yes --no-install-recommends /debs/*.deb' >"$root.log" 2>&1 ||
  { tail -20 "$root.log"; exit 1; }
echo "-- installed: ${packages[*]}"
inside gpu-similarity --version
inside gpu-similarity pearson /debs/table.txt --min-abs 0.9 --keep counts --output /debs/counts.txt
for package in "${packages[@]}"; do
  inside test -s "/usr/share/doc/$package/copyright"
  inside grep -q "{fmt} contributors" "/usr/share/doc/$package/copyright"
done

if inside test -e /usr/include/gpu/similarity.hpp; then
  inside apt-get install -qq --yes --no-install-recommends g++ make cmake pkg-config >"$root.log" 2>&1 ||
    { tail -20 "$root.log"; exit 1; }
  inside cmake -S /debs/consumer/find_package -B /debs/build >"$root.log"
  inside cmake --build /debs/build >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
  inside /debs/build/consumer
  # shellcheck disable=SC2016  # expanded inside
  inside sh -c 'c++ -std=c++20 /debs/consumer/consumer.cpp -o /debs/by_pkg_config \
    $(pkg-config --cflags --libs gpu-similarity) && /debs/by_pkg_config'
fi

inside dpkg --listfiles "${packages[@]}" | sort -u >"$root.files"
inside apt-get purge -qq --yes "${packages[@]}" >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
left=$(while read -r file; do
  if [ -f "$root$file" ] || [ -L "$root$file" ]; then
    inside dpkg --search "$file" >/dev/null 2>&1 || echo "$file"
  fi
done <"$root.files")
[ -z "$left" ] || { printf 'left behind:\n%s\n' "$left"; exit 1; }
[ ! -e "$root/usr/include/gpu" ] || { echo "left behind: /usr/include/gpu"; exit 1; }
echo "-- removed without a trace: ${packages[*]}"
