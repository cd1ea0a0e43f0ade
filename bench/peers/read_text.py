#!/usr/bin/env python3
"""Times pandas.read_csv and numpy.loadtxt on a text table of numbers separated by spaces.

    examples/generate_counts counts.txt 1000000
    bench/peers/read_text.py counts.txt
    GPU_SIMILARITY_BENCH_TEXT=counts.txt bench/io_bench --benchmark_filter=read/text/1000000
"""
import os
import statistics
import sys
import time

import numpy
import pandas


def seconds_of(read, repeats):
    wall, cpu = [], []
    for _ in range(repeats):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        read()
        wall.append(time.perf_counter() - wall_start)
        cpu.append(time.process_time() - cpu_start)
    return statistics.median(wall), statistics.median(cpu)


def main():
    path = sys.argv[1]
    size = os.path.getsize(path)
    readers = {
        f"pandas {pandas.__version__} read_csv": (
            lambda: pandas.read_csv(path, sep=" ", header=None), 3),
        f"numpy {numpy.__version__} loadtxt": (
            lambda: numpy.loadtxt(path, dtype=numpy.int32), 1),
    }
    print(f"{size / 1e6:.1f} MB")
    for name, (read, repeats) in readers.items():
        wall, cpu = seconds_of(read, repeats)
        print(f"{name}: {wall:.3f} s, {cpu:.3f} s of CPU, {size / wall / 1e9:.3f} GB/s")


if __name__ == "__main__":
    main()
