#!/usr/bin/env bash
# run.sh FOLDER [PYTHON]: both showcases on Debian 12, from the download to the pictures in FOLDER. Installs
# R and two packages of data as root (r-bioc-all, dataset-fashion-mnist). PYTHON has the package
# with its extras: pip install '.[graphs,plot,tables]'.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:?run.sh FOLDER [PYTHON]}
python=${2:-python3}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
started=$SECONDS

packages=(r-bioc-all r-bioc-biobase dataset-fashion-mnist)
if ! dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${packages[@]}" >/dev/null
fi
echo "== data and R: $((SECONDS - started)) s"
(cd "$folder" && Rscript "$here/expression.R")
"$python" "$here/gene_modules.py" "$folder"
"$python" "$here/image_network.py" "$(dpkg-query --listfiles dataset-fashion-mnist | grep 'train-images-idx3')" "$folder"
echo "== all of it: $((SECONDS - started)) s"
