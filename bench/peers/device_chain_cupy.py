#!/usr/bin/env python3
"""The chain of examples/device_chain.cpp in CuPy, as device_chain_torch.py has it in PyTorch: rows
of float32 on the GPU are smoothed, ranked, all pairs counted at p <= 1e-6, and the rows with the
most partners selected. Nothing is copied to the host between the steps.

  device_chain_cupy.py [path/to/device_chain] [rows [columns]]

Runs the program first where its path is given. CuPy ranks by two sorts (no ties here), multiplies
float32 without TF32 in blocks of rows, and counts what reaches the cut by a reduction kernel of one
line. Prints the least of seven runs in milliseconds."""
import subprocess
import sys
import time

import cupy
from cupyx.scipy.ndimage import uniform_filter1d

WINDOW, MAX_P, BEST, BLOCK = 5, 1e-6, 10, 4096

count_kept = cupy.ReductionKernel(
    "float32 r, float32 cut", "int32 kept", "fabsf(r) >= cut", "a + b", "kept = a", "0", "count_kept"
)


def critical(max_p, cols):
    from scipy.stats import t

    value = t.isf(max_p / 2, cols - 2)
    return float(value / (value * value + cols - 2) ** 0.5)


def rows_on_device(rows, cols):
    random = cupy.random.default_rng(2024)
    share = 0.4 * cupy.arange(rows, 0, -1, dtype=cupy.float32)[:, None] / rows
    common = random.standard_normal((1, cols), dtype=cupy.float32)
    own = random.standard_normal((rows, cols), dtype=cupy.float32)
    return (share * common + (1 - share) * own).astype(cupy.float32)


def chain(data, cut):
    cols = data.shape[1]
    smooth = uniform_filter1d(data, WINDOW, axis=1, mode="mirror")
    ranks = smooth.argsort(axis=1).argsort(axis=1).astype(cupy.float32)
    unit = ranks - cupy.float32((cols - 1) / 2)
    unit /= cupy.linalg.norm(unit, axis=1, keepdims=True)
    degree = cupy.empty(len(data), dtype=cupy.int32)
    for begin in range(0, len(data), BLOCK):
        block = unit[begin : begin + BLOCK] @ unit.T
        degree[begin : begin + BLOCK] = count_kept(block, cupy.float32(cut), axis=1) - 1
    best = cupy.argsort(-degree)[:BEST]
    return degree[best], best


def main():
    arguments = sys.argv[1:]
    program = arguments.pop(0) if arguments and not arguments[0].isdigit() else None
    rows = int(arguments[0]) if arguments else 20_000
    cols = int(arguments[1]) if len(arguments) > 1 else 100
    if program is not None:
        print(subprocess.run([program, str(rows), str(cols)], check=True, capture_output=True,
                             text=True).stdout.strip().splitlines()[-2])
    data = rows_on_device(rows, cols)
    cut = critical(MAX_P, cols)
    least = float("inf")
    for _ in range(8):
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        degree, _ = chain(data, cut)
        cupy.cuda.runtime.deviceSynchronize()
        least = min(least, time.perf_counter() - start)
    print(f"CuPy {cupy.__version__}, {rows} x {cols}: {least * 1e3:.3f} ms, "
          f"most partners {int(degree[0])}")


if __name__ == "__main__":
    main()
