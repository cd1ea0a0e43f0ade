#!/usr/bin/env bash
# Parquet files of pandas, and what it reads of the command's: parquet_test.sh GPU_SIMILARITY. Skipped where the command
# was built without Parquet, or Python (PYTHON, else python3) has no pandas and pyarrow. tests/package/parquet_wheel.sh
# brings all of them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
skip() {
  echo "skipped: $1"
  exit 77
}
"$python" -c "import pandas, pyarrow.parquet" 2> /dev/null || skip "$python has no pandas or no pyarrow"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '1 2 3\n2 3 1\n' > "$work/in.txt"
"$1" pearson "$work/in.txt" --quiet -o "$work/e.parquet" 2> "$work/why" ||
  { grep -q GPU_SIMILARITY_ENABLE_PARQUET "$work/why" && skip "built without Parquet"; cat "$work/why"; exit 1; }
"$python" "$here/parquet_test.py" "$1"
