#!/usr/bin/env bash
# ./dev layers: every include against the table of layers, tools/dev/layers/layers.txt, and the modules of
# the Python package, none of which imports one that imports it.
set -euo pipefail
source tools/dev/common.sh

need layers
python3 tools/dev/layers/check_includes.py "$@"
python3 tools/dev/layers/check_modules.py
