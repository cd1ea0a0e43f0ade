#!/usr/bin/env bash
# snakemake_test.sh COMMAND SOURCE_DIR: the workflow of examples/cluster/snakemake gives the bytes of a single run,
# also where a part fails once. Skipped where there is no snakemake; GPU_SIMILARITY_REQUIRE_CLUSTERS=1 makes
# that a failure.
set -euo pipefail
command=$(realpath "$1")
source=$(realpath "$2")
if ! command -v snakemake >/dev/null; then
  echo "skipped: no snakemake"
  [ "${GPU_SIMILARITY_REQUIRE_CLUSTERS:-0}" = 1 ] && exit 1
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work XDG_CACHE_HOME=$work/cache
"$command" rank "$source/examples/data/fashion_5000x30.txt" --quiet --output table.npy
"$command" spearman table.npy --max-p 1e-12 --quiet --output expected.tsv

# The first call of all fails: the part that makes it is run again.
cat >once.sh <<TEXT
#!/bin/sh
if mkdir "$work/failed" 2>/dev/null; then exit 1; fi
exec "$command" "\$@"
TEXT
chmod +x once.sh
snakemake --snakefile "$source/examples/cluster/snakemake/Snakefile" --cores 2 --quiet \
  --config table=table.npy parts=5 call=spearman cut="--max-p 1e-12" output=edges.tsv command="$work/once.sh" \
  >log 2>&1 || { tail -40 log; exit 1; }
[ -d failed ] || { echo "FAILED: no part failed"; exit 1; }
cmp edges.tsv expected.tsv
[ "$(wc -l <edges.tsv)" -gt 1000 ] || { echo "FAILED: $(wc -l <edges.tsv) lines"; exit 1; }
echo "five parts by snakemake $(snakemake --version): the bytes of a single run"
