#!/usr/bin/env bash
# ./dev layers: every include against the table of layers, tools/dev/layers/layers.txt.
set -euo pipefail
source tools/dev/common.sh

need layers
python3 tools/dev/layers/check_includes.py "$@"
