#!/usr/bin/env python3
"""Times all pairs by NumPy beside the library's CPU backend, on the same data and machine, and
checks that both keep the same number of pairs.

  pair_peers.py path/to/gpu-similarity [repeats]

NumPy gets its best form: ranks and unit rows made once, float32 tiles that stay in the cache, the
upper triangle alone. The library's time is ranking or scaling and all pairs; reading the file is
left out on both sides. Medians of the repeats; they alternate, so that a busy machine slows both.
Prints one line a job: seconds of each, pairs per second of each, their ratio."""
import json
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


def library(command, measure, file, max_p, keep, folder):
    report = folder / "report.json"
    output = folder / "edges.tsv"
    subprocess.run([command, measure, str(file), "--max-p", repr(max_p), "--keep", keep, "--backend",
                    "cpu", "--quiet", "--output", str(output), "--report", str(report)],
                   check=True, stdout=subprocess.DEVNULL)
    told = json.loads(report.read_text())
    return told["pairs_kept"], told["seconds"]["prepare"] + told["seconds"]["pairs"]


def compare(name, command, measure, data, max_p, keep, peer, repeats, folder):
    file = folder / "data.npy"
    np.save(file, data)
    cut = critical(max_p, data.shape[1])
    ours, theirs = [], []
    for _ in range(repeats):
        kept, seconds = library(command, measure, file, max_p, keep, folder)
        ours.append(seconds)
        start = time.perf_counter()
        peer_kept = peer(data, cut)
        theirs.append(time.perf_counter() - start)
    pairs = len(data) * (len(data) - 1) / 2
    # float32 may flip pairs at the very cut.
    agree = abs(kept - peer_kept) <= 2e-6 * pairs
    print(f"{name:34s} {median(theirs):9.3f} s {median(ours):9.4f} s {pairs / median(theirs):10.3g} "
          f"{pairs / median(ours):10.3g} {median(theirs) / median(ours):8.1f} x  "
          f"{'agree' if agree else f'DIFFER: {peer_kept} and {kept}'}", flush=True)
    return agree


def main():
    command = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    counts = tied_counts(60_000, 30)
    wide_counts = tied_counts(12_625, 128)
    normal = np.random.default_rng(2).standard_normal((12_625, 128))
    jobs = [("spearman count p<=1e-10 60000x30", "spearman", counts, 1e-10, "counts", numpy_spearman),
            ("spearman count p<=0.05 60000x30", "spearman", counts, 0.05, "counts", numpy_spearman),
            ("spearman edges p<=1e-10 12625x128", "spearman", wide_counts, 1e-10, "edges",
             numpy_spearman),
            ("pearson edges p<=1e-10 12625x128", "pearson", normal, 1e-10, "edges", numpy_corrcoef),
            ("  the same against float32 tiles", "pearson", normal, 1e-10, "edges", numpy_pearson)]
    print(f"{'job':34s} {'NumPy':>11s} {'library':>11s} {'pairs/s':>10s} {'pairs/s':>10s} {'ratio':>9s}")
    with tempfile.TemporaryDirectory() as folder:
        good = [compare(name, command, measure, data, max_p, keep, peer, repeats, Path(folder))
                for name, measure, data, max_p, keep, peer in jobs]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
