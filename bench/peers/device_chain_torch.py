#!/usr/bin/env python3
"""The chain of examples/device_chain.cpp in PyTorch: rows of float32 on the GPU are smoothed,
ranked, all pairs counted at p <= 1e-6, and the rows with the most partners selected. Nothing is
copied to the host between the steps.

  device_chain_torch.py [path/to/device_chain] [rows [columns]]

Runs the program first where its path is given. PyTorch ranks by two sorts (no ties here), multiplies
float32 without TF32 in blocks of rows, and counts what reaches the cut. Prints the least of seven
runs in milliseconds."""
import subprocess
import sys
import time

import torch

WINDOW, MAX_P, BEST, BLOCK = 5, 1e-6, 10, 4096


def critical(max_p, cols):
    from scipy.stats import t

    value = t.isf(max_p / 2, cols - 2)
    return float(value / (value * value + cols - 2) ** 0.5)


def rows_on_device(rows, cols):
    torch.manual_seed(2024)
    share = 0.4 * torch.arange(rows, 0, -1, device="cuda", dtype=torch.float32)[:, None] / rows
    common = torch.randn(1, cols, device="cuda")
    return share * common + (1 - share) * torch.randn(rows, cols, device="cuda")


def chain(data, cut):
    cols = data.shape[1]
    padded = torch.nn.functional.pad(data[:, None], (WINDOW // 2, WINDOW // 2), mode="reflect")
    smooth = torch.nn.functional.avg_pool1d(padded, WINDOW, 1)[:, 0]
    ranks = smooth.argsort(1).argsort(1).to(torch.float32)
    unit = ranks - (cols - 1) / 2
    unit /= unit.norm(dim=1, keepdim=True)
    degree = torch.empty(len(data), device="cuda", dtype=torch.int32)
    for begin in range(0, len(data), BLOCK):
        block = unit[begin : begin + BLOCK] @ unit.T
        degree[begin : begin + BLOCK] = (block.abs() >= cut).sum(1, dtype=torch.int32) - 1
    return degree.topk(BEST)


def main():
    arguments = sys.argv[1:]
    program = arguments.pop(0) if arguments and not arguments[0].isdigit() else None
    rows = int(arguments[0]) if arguments else 20_000
    cols = int(arguments[1]) if len(arguments) > 1 else 100
    if program is not None:
        print(subprocess.run([program, str(rows), str(cols)], check=True, capture_output=True,
                             text=True).stdout.strip().splitlines()[-2])
    torch.backends.cuda.matmul.allow_tf32 = False
    data = rows_on_device(rows, cols)
    cut = critical(MAX_P, cols)
    least = float("inf")
    for _ in range(8):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = chain(data, cut)
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - start)
    print(f"PyTorch {torch.__version__}, {rows} x {cols}: {least * 1e3:.3f} ms, "
          f"most partners {int(result.values[0])}")


if __name__ == "__main__":
    main()
