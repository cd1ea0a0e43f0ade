#!/usr/bin/env bash
# tools/dev/gpu/carry.sh [FOLDER]: copies what a build of the library, its command, its tests and its jobs needs
# beside a compiler, CMake and the CUDA toolkit from this machine into FOLDER (.carry): headers of fmt,
# CLI11, Catch2 and what is used of Boost, and zlib as an archive. A machine that installs no packages, as
# nodes with a GPU often do, builds with them: ./dev gpu --prefix .carry. About 20 MB; git ignores .carry.
set -euo pipefail
source tools/dev/common.sh

folder=${1:-.carry}
need build test
rm -rf "$folder"
mkdir -p "$folder/include" "$folder/lib/cmake" "$folder/python"
folder=$(cd "$folder" && pwd)

cp -r /usr/include/fmt /usr/include/CLI /usr/include/catch2 "$folder/include/"
cp /usr/include/zlib.h /usr/include/zconf.h "$folder/include/"
cp "$(g++ -print-file-name=libz.a)" "$folder/lib/"

# Of Boost's headers, those that are reached from the sources.
git grep -h '#include <boost/' -- '*.cpp' '*.hpp' '*.cu' | sort -u |
  g++ -std=c++20 -M -x c++ - | tr -d '\\' | tr ' ' '\n' | { grep '^/usr/include/boost/' || true; } | sort -u |
  while read -r header; do
    install -D -m 644 "$header" "$folder/include/${header#/usr/include/}"
  done
[ -d "$folder/include/boost" ] || fail "carry: no header of Boost was found"

# package NAME TARGET VERSION [VARIABLES]: what find_package(NAME) finds.
package() {
  mkdir -p "$folder/lib/cmake/$1"
  cat >"$folder/lib/cmake/$1/$1Config.cmake" <<TEXT
get_filename_component(carried "\${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
${4:-}
if(NOT TARGET $2)
  add_library($2 INTERFACE IMPORTED)
  target_include_directories($2 SYSTEM INTERFACE "\${carried}")
endif()
TEXT
  cat >"$folder/lib/cmake/$1/$1ConfigVersion.cmake" <<TEXT
set(PACKAGE_VERSION $3)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
TEXT
}
# The tests tell Catch2 2, which is headers alone, from Catch2 3.
package fmt fmt::fmt 999
package CLI11 CLI11::CLI11 999
package Catch2 Catch2::Catch2 "$(dpkg-query --show --showformat='${source:Upstream-Version}' catch2)"
package Boost Boost::headers 999 'set(Boost_INCLUDE_DIRS "${carried}")'

# The Python package is built with nanobind, which is sources and headers.
if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder/python" nanobind; then
  say "no nanobind: the Python package is not built there"
fi
du -sh "$folder"
