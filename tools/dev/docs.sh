#!/usr/bin/env bash
# ./dev docs: builds the site into build/docs/html and checks it: the links of the pages in the
# repository, phrases that cost a second reading, doxygen's and mkdocs' warnings (each an error), every
# address of the built site, and every page in headless Chromium.
set -euo pipefail
source tools/dev/common.sh

need docs layers python
python3 tools/dev/site/check_links.py
python3 tools/dev/site/check_words.py
python3 tools/dev/release/check_release.py
bench/publish check
python3 bench/publishing/test_publishing.py
tools_folder=$PWD/build/docs/tools
if ! cmp --silent tools/dev/site/requirements.txt "$tools_folder/requirements.txt"; then
  say "installing the tools of the site in $tools_folder"
  rm -rf "$tools_folder"
  python3 -m venv "$tools_folder"
  "$tools_folder/bin/pip" install --quiet --disable-pip-version-check -r tools/dev/site/requirements.txt
  cp tools/dev/site/requirements.txt "$tools_folder/requirements.txt"
fi
export PATH="$tools_folder/bin:$PATH" NO_MKDOCS_2_WARNING=1
# Ubuntu has Chromium as a snap alone, which containers cannot run; playwright brings one.
if ! command -v chromium >/dev/null; then
  if apt-cache show chromium >/dev/null 2>&1; then need browser; else playwright install --with-deps chromium; fi
fi

say "reading the public headers"
rm -rf build/docs/xml
doxygen docs/Doxyfile
say "building the site"
mkdocs build --quiet
say "the checks of the site, shown to find planted faults"
"$tools_folder/bin/python" tools/dev/site/test_checks.py
say "every address of the site"
"$tools_folder/bin/python" tools/dev/site/check_site.py build/docs/html
say "every page in a browser"
"$tools_folder/bin/python" tools/dev/site/look_at_site.py build/docs/html "$@"
say "open build/docs/html/index.html, or look at it by: python3 -m http.server -d build/docs/html"
