#!/usr/bin/env python3
"""What a call from Python costs beside the same call from C++, in microseconds of processor time.

Usage: python_overhead.py build/bench/small_calls [--json FILE]. The program is bench/small_calls.cpp:
both work on the same table of 4 x 8 numbers with one CPU thread, and both give the fastest of 40
batches of 200 calls. They take turns, and of each the fastest of the rounds stands.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable

import gpu_similarity as gs
import numpy as np


def microseconds(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(40):
        began = time.process_time_ns()
        for _ in range(200):
            call()
        best = min(best, (time.process_time_ns() - began) / 200e3)
    return best


def operations() -> dict[str, Callable[[], object]]:
    x = np.array([[(7 * i + 5 * j * j) % 11 for j in range(8)] for i in range(4)], float)
    transposed, bits, run = x.T, gs.pack_bits(x), {"backend": "cpu", "cpu_threads": 1}
    weights = np.array([1.0, 2.0, 1.0])
    return {
        "spearman_edges": lambda: gs.spearman_edges(x, max_p=0.05, **run),
        "pearson_edges": lambda: gs.pearson_edges(x, max_p=0.05, **run),
        "top_k_partners": lambda: gs.top_k_partners(x, 2, **run),
        "counts": lambda: gs.counts(x, max_p=0.05, bins=8, **run),
        "dense": lambda: gs.dense(x, **run),
        "rank": lambda: gs.rank(x, **run),
        "mean_filter": lambda: gs.mean_filter(x, 3, **run),
        "convolve": lambda: gs.convolve(x, weights, **run),
        "top_k": lambda: gs.top_k(x, 3, **run),
        "top_k_distinct": lambda: gs.top_k_distinct(x, 3, **run),
        "matmul": lambda: gs.matmul(x, transposed, **run),
        "pack_bits": lambda: gs.pack_bits(x, **run),
        "binary_matmul": lambda: gs.binary_matmul(bits, bits, **run),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    calls = operations()
    cpp, python = ({name: float("inf") for name in calls} for _ in range(2))
    for _ in range(arguments.rounds):
        done = subprocess.run([arguments.program], capture_output=True, text=True, check=True)
        for name, took in json.loads(done.stdout).items():
            cpp[name] = min(cpp[name], took)
        for name, call in calls.items():
            python[name] = min(python[name], microseconds(call))
    lines = []
    for name in calls:
        added = python[name] - cpp[name]
        lines.append({"call": name, "cpp_us": cpp[name], "python_us": round(python[name], 3)})
        print(f"{name:16} {cpp[name]:8.2f} {python[name]:8.2f}  {added:6.2f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"unit": "us of processor time", "lines": lines}, file, indent=1)


if __name__ == "__main__":
    main()
