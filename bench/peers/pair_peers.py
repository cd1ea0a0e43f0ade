#!/usr/bin/env python3
"""Times all pairs by NumPy and R beside the library's CPU backend, on the same data and machine, and
checks that all keep the same number of pairs.

  pair_peers.py path/to/gpu-similarity [--repeats 3] [--json results.json] [--only word]

NumPy gets its best form: ranks and unit rows made once, float32 tiles that stay in the cache, the
upper triangle alone. R runs cor() on the transposed matrix, if Rscript is installed. The library's
time is ranking or scaling and all pairs; reading the file is left out on all sides. Medians of the
repeats; they alternate, so that a busy machine slows both. R runs once. Prints one line a job:
seconds of each, pairs per second of each, their ratio. OMP_NUM_THREADS and OPENBLAS_NUM_THREADS
set the threads."""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TILE = 2048


def median(values):
    return sorted(values)[len(values) // 2]


def tied_counts(rows, cols):
    random = np.random.default_rng(1)
    zeros = random.random((rows, 1)) * 0.9
    counts = random.integers(1, 11, (rows, cols))
    return np.where(random.random((rows, cols)) < zeros, 0, counts).astype(np.int32)


def unit_rows(values, dtype):
    values = values - values.mean(axis=1, keepdims=True, dtype=np.float64)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return (values / np.where(length == 0, np.inf, length)).astype(dtype)


def critical(max_p, cols):
    from scipy.stats import t

    quantile = t.isf(max_p / 2, cols - 2)
    return quantile / np.sqrt(cols - 2 + quantile * quantile)


def tiles_kept(unit, cut):
    """Pairs i < j with |r| >= cut, without the matrix."""
    kept = 0
    for i in range(0, len(unit), TILE):
        for j in range(i, len(unit), TILE):
            hits = np.abs(unit[i : i + TILE] @ unit[j : j + TILE].T) >= cut
            kept += np.count_nonzero(np.triu(hits, 1) if i == j else hits)
    return kept


def numpy_spearman(data, cut):
    from scipy.stats import rankdata

    return tiles_kept(unit_rows(rankdata(data, axis=1), np.float32), cut)


def numpy_pearson(data, cut):
    return tiles_kept(unit_rows(data, np.float32), cut)


def numpy_corrcoef(data, cut):
    return int(np.count_nonzero(np.triu(np.abs(np.corrcoef(data)) >= cut, 1)))


R_SCRIPT = """
args <- commandArgs(TRUE)
shape <- as.integer(args[2:3])
x <- matrix(readBin(args[1], "double", prod(shape)), shape[2], shape[1])
start <- proc.time()[["elapsed"]]
r <- cor(x, method = args[4])
kept <- (sum(abs(r) >= as.numeric(args[5])) - shape[1]) / 2
cat(proc.time()[["elapsed"]] - start, kept)
"""


def r_cor(measure):
    """A peer that tells its own seconds; R stores matrices by column, so no transpose is timed."""

    def run(data, cut, folder):
        file = folder / "data.bin"
        np.ascontiguousarray(data, np.float64).tofile(file)
        script = folder / "peer.R"
        script.write_text(R_SCRIPT)
        told = subprocess.run(["Rscript", str(script), str(file), str(data.shape[0]),
                               str(data.shape[1]), measure, repr(float(cut))], check=True,
                              capture_output=True, text=True).stdout.split()
        return int(float(told[1])), float(told[0])

    return run


def timed(peer):
    def run(data, cut, folder):
        start = time.perf_counter()
        kept = peer(data, cut)
        return kept, time.perf_counter() - start

    return run


def library(command, measure, file, max_p, keep, folder):
    report = folder / "report.json"
    output = folder / "edges.tsv"
    subprocess.run([command, measure, str(file), "--max-p", repr(max_p), "--keep", keep, "--backend",
                    "cpu", "--quiet", "--output", str(output), "--report", str(report)],
                   check=True, stdout=subprocess.DEVNULL)
    told = json.loads(report.read_text())
    return told["pairs_kept"], told["seconds"]["prepare"] + told["seconds"]["pairs"], told


def compare(name, command, measure, data, max_p, keep, peer, repeats, folder):
    file = folder / "data.npy"
    np.save(file, data)
    cut = critical(max_p, data.shape[1])
    ours, theirs = [], []
    for _ in range(repeats):
        kept, seconds, told = library(command, measure, file, max_p, keep, folder)
        ours.append(seconds)
        peer_kept, peer_seconds = peer(data, cut, folder)
        theirs.append(peer_seconds)
    pairs = len(data) * (len(data) - 1) / 2
    # float32 may flip pairs at the very cut.
    agree = abs(kept - peer_kept) <= 2e-6 * pairs
    line = {"job": name, "peer_seconds": median(theirs), "library_seconds": median(ours),
            "peer_pairs_per_second": pairs / median(theirs),
            "library_pairs_per_second": pairs / median(ours),
            "ratio": median(theirs) / median(ours), "kept": kept, "peer_kept": peer_kept,
            "device": told.get("device", "")}
    print(f"{name:42s} {median(theirs):9.3f} s {median(ours):9.4f} s {pairs / median(theirs):10.3g} "
          f"{pairs / median(ours):10.3g} {median(theirs) / median(ours):8.1f} x  "
          f"{'agree' if agree else f'DIFFER: {peer_kept} and {kept}'}", flush=True)
    return agree, line


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts = tied_counts(60_000, 30)
    wide_counts = tied_counts(12_625, 128)
    normal = np.random.default_rng(2).standard_normal((12_625, 128))
    strict, loose = 1e-10, 0.05
    jobs = [("spearman", counts, strict, "counts", "NumPy tiles", timed(numpy_spearman)),
            ("spearman", counts, loose, "counts", "NumPy tiles", timed(numpy_spearman)),
            ("spearman", wide_counts, strict, "edges", "NumPy tiles", timed(numpy_spearman)),
            ("pearson", normal, strict, "edges", "np.corrcoef", timed(numpy_corrcoef)),
            ("pearson", normal, strict, "edges", "NumPy tiles", timed(numpy_pearson)),
            ("pearson", normal, loose, "counts", "NumPy tiles", timed(numpy_pearson))]
    if shutil.which("Rscript"):
        jobs += [("spearman", wide_counts, strict, "edges", "R cor", r_cor("spearman")),
                 ("pearson", normal, strict, "edges", "R cor", r_cor("pearson"))]
    threads = os.environ.get("OMP_NUM_THREADS", "default")
    print(f"{processor()}, {threads} threads, NumPy {np.__version__}")
    print(f"{'job':42s} {'peer':>11s} {'library':>11s} {'pairs/s':>10s} {'pairs/s':>10s} {'ratio':>9s}")
    good, lines = [], []
    with tempfile.TemporaryDirectory() as folder:
        for measure, data, max_p, keep, peer_name, peer in jobs:
            name = f"{measure} {keep} {max_p:g} {len(data)}x{data.shape[1]}, {peer_name}"
            if options.only not in name:
                continue
            repeats = 1 if peer_name == "R cor" else options.repeats
            agree, line = compare(name, options.command, measure, data, max_p, keep, peer, repeats,
                                  Path(folder))
            good.append(agree)
            lines.append(line)
    if options.json:
        options.json.write_text(json.dumps({"processor": processor(), "threads": threads,
                                            "numpy": np.__version__, "jobs": lines}, indent=1) + "\n")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
