#!/usr/bin/env bash
# ./dev docs: checks the links of the pages and writes the reference as HTML. A warning of doxygen is
# an error.
set -euo pipefail
source tools/dev/common.sh

need docs layers
python3 tools/dev/check_links.py
mkdir -p build/docs
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
PROJECT_NUMBER=$version doxygen docs/Doxyfile
say "open build/docs/html/index.html"
