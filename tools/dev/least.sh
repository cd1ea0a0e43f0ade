#!/usr/bin/env bash
# ./dev least: the Python package with the least versions that pyproject.toml names. That CMake builds the wheel, and
# the tests run with NumPy and all optional packages but Spark's at their lower bounds. PYTHON is the interpreter.
set -euo pipefail
source tools/dev/common.sh

need build python
folder=$PWD/build/least
rm -rf "$folder"
"${PYTHON:-python3}" -m venv "$folder"
export PATH=$folder/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake=$(sed -n 's/^cmake.version = ">=\(.*\)"$/\1/p' pyproject.toml)
pip install --quiet --disable-pip-version-check uv ninja "cmake==$cmake.*"
say "a wheel by $(cmake --version | head -1)"
pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder/dist" \
  -C cmake.define.GPU_SIMILARITY_ENABLE_CUDA=OFF .
uv pip install --quiet --python "$folder/bin/python" --resolution lowest-direct --requirements pyproject.toml \
  --extra tables --extra graphs --extra plot --extra anndata --extra dask --extra test
uv pip install --quiet --python "$folder/bin/python" --no-deps "$folder"/dist/*.whl
say "tests with $(uv pip list --quiet --python "$folder/bin/python" | awk '/^(numpy|scipy|pandas|pyarrow) / { print $1, $2 }' | xargs)"
# NumPy's and SciPy's own cases are counted as their newest versions have them.
python -m pytest --quiet python/tests --deselect python/tests/test_faces.py::test_their_own_cases
