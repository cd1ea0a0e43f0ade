#!/usr/bin/env python3
"""Times scipy.stats.rankdata beside the library's CPU backend on the same shape of data.

usage: rank_peers.py PATH_TO_RANK_BENCH [ROWS_FOR_SCIPY]

SciPy ranks fewer rows (default 50,000) and is scaled up in proportion, which the table says.
"""
import json
import subprocess
import sys
import time

import numpy as np
from scipy.stats import rankdata


def count_rows(rows, cols, rng):
    zeros = rng.uniform(0, 0.5, (rows, 1))
    values = rng.integers(1, 41, (rows, cols), dtype=np.int32)
    values[rng.uniform(size=(rows, cols)) < zeros] = 0
    return values


def library_milliseconds(program, name):
    text = subprocess.run(
        [program, f"--benchmark_filter={name}", "--benchmark_format=json",
         "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"],
        check=True, capture_output=True, text=True).stdout
    runs = json.loads(text)["benchmarks"]
    return next(run["real_time"] for run in runs if run["aggregate_name"] == "median")


def main():
    program = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    data = count_rows(rows, 30, np.random.default_rng(1))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        rankdata(data, axis=1)
        seconds.append(time.perf_counter() - start)
    scipy_ms = sorted(seconds)[1] * 1e3 * (1_000_000 / rows)
    print(f"{'1,000,000 x 30 int32':42} {'ms':>10} {'ratio':>8}")
    print(f"{'SciPy rankdata (from ' + format(rows, ',') + ' rows)':42} {scipy_ms:10.1f} {1:8.1f}")
    for name in ("cpu_rank_rows_counts", "cpu_centred_ranks_counts"):
        ms = library_milliseconds(program, name)
        print(f"{name:42} {ms:10.1f} {scipy_ms / ms:8.1f}")


if __name__ == "__main__":
    main()
