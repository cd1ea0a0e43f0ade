# Shared by the scripts of this folder: packages, CUDA, configure and build. Sourced, not run;
# the current directory is the root of the checkout.

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# packages_of GROUP...: the packages of these groups of packages.txt.
packages_of() {
  local group
  for group in "$@"; do
    awk -v group="$group" '$1 == group { print $2 }' tools/dev/packages.txt
  done
}

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need GROUP...: installs what is missing of these groups, or names it where that takes root.
need() {
  local package missing=()
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian or Ubuntu; install the equivalents of: $(packages_of "$@" | xargs)"
  for package in $(packages_of "$@"); do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    printf 'dev: these packages are missing, and installing them takes root:\n' >&2
    printf '  sudo apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
    exit 1
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # CI has two scripts at a time.
  flock /var/lock/dev-packages.lock sh -ec 'apt-get update -qq -o DPkg::Lock::Timeout=300
    apt-get install -qq -o DPkg::Lock::Timeout=300 --yes --no-install-recommends "$@" >/dev/null' sh "${missing[@]}"
}

# Finds nvcc where it is installed but not on PATH. CMake reads CUDACXX.
find_nvcc() {
  if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
}
has_nvcc() { [ -n "${CUDACXX:-}" ] || command -v nvcc >/dev/null; }

# The compute capabilities of the GPUs here, one a line ("9.0"); nothing where there is none.
gpu_capabilities() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]+$' |
    sort -u || true
}
has_gpu() { [ -n "$(gpu_capabilities)" ]; }

# One architecture takes a fraction of the time that the full list of a release takes: that of the
# GPU here, or the newest that the kernels know. From 9.0 on the kernels use the features of the
# very architecture, which have an "a" in its name.
cuda_architectures() {
  if [ -n "${CMAKE_CUDA_ARCHITECTURES:-}" ]; then
    echo "$CMAKE_CUDA_ARCHITECTURES"
  elif has_gpu; then
    gpu_capabilities | tr -d . | sed -e 's/^\(9.\|1..\)$/\1a/' -e 's/$/-real/' | paste -sd';'
  else
    echo "90a-real"
  fi
}

# build_jobs: one job a core, and not more than memory allows at about 2 GiB a job.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  echo "${DEV_JOBS:-$((cores < memory ? cores : memory))}"
}

# configure FOLDER [CMAKE ARGUMENTS]
configure() {
  local folder=$1
  shift
  find_nvcc
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release)
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  has_nvcc && options+=("-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architectures)")
  say "configuring $folder"
  cmake -S . -B "$folder" "${options[@]}" "$@"
}

# build FOLDER [TARGETS]: also keeps what the compilers said in FOLDER/build.log.
build() {
  local folder=$1
  shift
  say "building $folder with $(build_jobs) jobs"
  cmake --build "$folder" --parallel "$(build_jobs)" ${1:+--target "$@"} 2>&1 | tee "$folder/build.log"
}

# recently_changed PATH...: whether a commit of the last three days before the newest one changed any of these. For
# checks that take minutes of what seldom changes. True where nothing may be left out: at night (CI_SECONDS=0), and in
# a clone that does not hold the commits.
recently_changed() {
  [ "${CI_SECONDS:-}" = 0 ] && return
  [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ] || return 0
  local since=$(($(git show --no-patch --format=%ct HEAD) - 3 * 24 * 3600))
  [ -n "$(git log --since="@$since" --format=%h --max-count=1 -- "$@")" ]
}
