#!/bin/bash
# What the image manylinux_2_28 (AlmaLinux 8) lacks for wheels: nvcc, the static CUDA runtime, OpenBLAS, zlib, zstd.
# fmt there is too old: the source distribution carries its headers.
set -euo pipefail
dnf install --assumeyes dnf-plugins-core epel-release
dnf config-manager --set-enabled powertools
dnf config-manager --add-repo \
  https://developer.download.nvidia.com/compute/cuda/repos/rhel8/x86_64/cuda-rhel8.repo
dnf install --assumeyes cuda-nvcc-13-0 cuda-cudart-devel-13-0 cuda-cccl-13-0 openblas-devel \
  openblas-threads zlib-devel libzstd-devel
