#!/usr/bin/env bash
# tools/dev/gpu/python_cuda.sh WHEEL [PYTHON]: on a machine with a GPU, installs a wheel that was built with
# CUDA and runs the tests of device arrays, of parity and of the rest. Needs pytest, SciPy, pandas; no
# network. CuPy and PyTorch are used where they are installed.
set -euo pipefail

wheel=$1
python=${2:-python3}
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
"$python" -m pip install --quiet --no-index --no-deps --target "$site" "$wheel"
export PYTHONPATH=$site GPU_SIMILARITY_REQUIRE_CUDA=1
"$python" -c 'import gpu_similarity as gs; print(gs.backends(), gs.devices())'
"$python" -m pytest --quiet -rs python/tests/test_cuda.py
"$python" -m pytest --quiet python/tests/test_pairs.py python/tests/test_rows.py python/tests/tables/test_arrays.py \
  python/tests/test_areas.py python/tests/test_known_answers.py
"$python" bench/peers/python_peers.py --backend cuda --torch
