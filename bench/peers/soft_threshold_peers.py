#!/usr/bin/env python3
"""Times the scale-free fits of 20 powers beside R, on one thread, and compares the fits.

  soft_threshold_peers.py COMMAND [--rows 3000] [--cols 100] [--times 5] [--json results.json]

COMMAND is gpu-similarity. Rscript runs bench/peers/soft_threshold.R: pickSoftThreshold of the package WGCNA where it is
installed, and its formula in plain R. Seconds are the best of several runs, without reading the table: of the command
"compute" of its report. --json writes those of this run."""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NETWORKS = ["unsigned", "signed", "signed hybrid"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--cols", type=int, default=100)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def make_table(path, rows, cols):
    """Modules of rows that follow 30 common signals, some closely and most hardly."""
    random = np.random.default_rng(1)
    signals = random.normal(size=(30, cols))[random.integers(30, size=rows)]
    x = signals * random.exponential(0.7, size=(rows, 1)) + random.normal(size=(rows, cols))
    with path.open("w") as out:
        out.write("gene\t" + "\t".join(f"s{k}" for k in range(cols)) + "\n")
        for i, row in enumerate(x):
            out.write(f"g{i}\t" + "\t".join(repr(float(v)) for v in row) + "\n")


def run_command(command, table, network, folder, times):
    seconds = []
    for _ in range(times):
        subprocess.run([command, "soft-threshold", table, "--powers", "1-20", "--network", network, "--threads", "1",
                        "--backend", "cpu", "-q", "-o", folder / "fit.tsv", "--report", folder / "report.json"], check=True)
        seconds.append(json.loads((folder / "report.json").read_text())["seconds"]["compute"])
    return np.loadtxt(folder / "fit.tsv", skiprows=1), min(seconds)


def run_r(table, network, times):
    script = Path(__file__).with_name("soft_threshold.R")
    out = subprocess.run(["Rscript", script, table, network, str(times)], check=True, capture_output=True, text=True).stdout
    return json.loads(out[out.index("JSON ") + 5:])


def largest_difference(fits, others):
    scale = np.maximum(np.abs(fits), 1e-3)
    return float(np.max(np.abs(fits - np.array(others)) / scale))


def main():
    asked = arguments()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    jobs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "table.tsv"
        make_table(table, asked.rows, asked.cols)
        for network in NETWORKS:
            fits, seconds = run_command(asked.command, table, network, folder, asked.times)
            peers = run_r(table, network, max(1, asked.times // 2))
            job = {"job": f"{asked.rows} x {asked.cols}, powers 1 to 20, {network}", "seconds": seconds,
                   "R": peers["R"], "blas": peers["blas"], "package_version": peers.get("package_version")}
            for peer in ("formula", "package"):
                if peer not in peers:
                    continue
                found = peers[peer]
                job[peer] = {"elapsed_seconds": found["elapsed_seconds"], "processor_seconds": found["processor_seconds"],
                             "ratio": found["elapsed_seconds"] / seconds,
                             "largest_difference": largest_difference(fits, found["fits"])}
                print(f"{job['job']}: {seconds:.4f} s, {peer} in R {found['elapsed_seconds']:.3f} s, "
                      f"{job[peer]['ratio']:.1f} times, fits differ by {job[peer]['largest_difference']:.1e}")
            jobs.append(job)
    agree = all(job[peer]["largest_difference"] <= 1e-6 for job in jobs for peer in ("formula", "package") if peer in job)
    if asked.json:
        cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                    if line.startswith("model name")), platform.processor())
        result = {"processor": cpu, "threads": 1, "times": asked.times, "agree": agree, "jobs": jobs}
        asked.json.write_text(json.dumps(result, indent=1) + "\n")
    if not agree:
        sys.exit("the fits differ by more than 1e-6")


if __name__ == "__main__":
    main()
