"""All pairs by NumPy and R beside the library's CPU backend: the jobs of cpu_peers.py, which runs them.

NumPy gets its best form: ranks and unit rows made once, float32 tiles that stay in the cache, the
upper triangle alone. Of many rows it computes the pairs of the first 16,384 and is scaled up:
preparation by rows, tiles by pairs. R runs cor() on the transposed matrix, once. The library's time
is a whole call: ranking or scaling, all pairs, the result. bench/pair_job makes the rows and writes them
for the peers."""
import importlib.util
import platform
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Callable

import numpy as np

TILE = 2048
MOST_ROWS = 16_384


def median(values):
    return sorted(values)[len(values) // 2]


@lru_cache(maxsize=1)
def tied_counts(rows, cols):
    random = np.random.default_rng(1)
    zeros = random.random((rows, 1)) * 0.9
    counts = random.integers(1, 11, (rows, cols))
    return np.where(random.random((rows, cols)) < zeros, 0, counts).astype(np.int32)


def unit_rows(values):
    values = values - values.mean(axis=1, keepdims=True, dtype=np.float64)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return (values / np.where(length == 0, np.inf, length)).astype(np.float32)


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


def numpy_tiles(prepare):
    """A peer gives the pairs kept among the rows it is given, and its seconds for `whole` rows."""

    def run(data, cut, whole, _):
        start = time.perf_counter()
        unit = unit_rows(prepare(data))
        middle = time.perf_counter()
        kept = tiles_kept(unit, cut)
        end = time.perf_counter()
        share = len(data) / whole
        return kept, (middle - start) / share + (end - middle) / share**2

    return run


def ranks(data):
    from scipy.stats import rankdata

    return rankdata(data, axis=1)


def numpy_corrcoef(data, cut, *_):
    start = time.perf_counter()
    kept = int(np.count_nonzero(np.triu(np.abs(np.corrcoef(data)) >= cut, 1)))
    return kept, time.perf_counter() - start


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
    """R stores matrices by column, so no transpose is timed."""

    def run(data, cut, _, folder):
        file = folder / "data.bin"
        np.ascontiguousarray(data, np.float64).tofile(file)
        script = folder / "peer.R"
        script.write_text(R_SCRIPT)
        told = subprocess.run(["Rscript", script, file, str(data.shape[0]), str(data.shape[1]),
                               measure, repr(float(cut))], check=True, capture_output=True,
                              text=True).stdout.split()
        return int(float(told[1])), float(told[0])

    return run


@dataclass
class Job:
    measure: str
    levels: int  # different values of a row; 0: no ties
    rows: int
    cols: int
    max_p: float
    keep: str
    peer: str
    run: Callable

    @property
    def name(self):
        ties = ", ties" if self.levels else ""
        return f"{self.measure} {self.keep}, p <= {self.max_p:g}, {self.rows:,} x {self.cols}{ties}"

    @property
    def is_slow(self):
        return self.peer.startswith("R ")

    def lacking(self):
        if importlib.util.find_spec("scipy") is None:
            return "SciPy"
        return "Rscript" if self.is_slow and not shutil.which("Rscript") else ""


def jobs():
    counts = ("spearman", 12, 60_000, 30)
    wide = ("spearman", 12, 12_625, 128)
    values = ("pearson", 0, 12_625, 128)
    part = f"NumPy float32 tiles, on {MOST_ROWS:,} rows"
    spearman, pearson = numpy_tiles(ranks), numpy_tiles(lambda data: data)
    return [Job(*counts, 1e-10, "counts", part, spearman),
            Job(*counts, 0.05, "counts", part, spearman),
            Job(*wide, 1e-10, "edges", "NumPy float32 tiles", spearman),
            Job(*wide, 1e-10, "edges", "R cor", r_cor("spearman")),
            Job(*values, 1e-10, "edges", "np.corrcoef", numpy_corrcoef),
            Job(*values, 1e-10, "edges", "NumPy float32 tiles", pearson),
            Job(*values, 1e-10, "edges", "R cor", r_cor("pearson")),
            Job(*values, 0.05, "counts", "NumPy float32 tiles", pearson)]


def library(program, job, rows, repeats, table):
    """Pairs kept, and the median of the seconds of some calls after one that is not counted."""
    line = f"{job.measure} {rows} {job.cols} 0 0 {job.levels} {job.max_p!r} cpu:{job.keep} {repeats} table={table}\n"
    told = subprocess.run([program], input=line, check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(re.search(r" kept (\d+)", told)[1]), float(re.search(r" s ([0-9.]+)", told)[1])


def compare(job, program, repeats, folder):
    table = folder / "data.npy"
    cut = critical(job.max_p, job.cols)
    pairs = job.rows * (job.rows - 1) / 2
    kept, ours = library(program, job, job.rows, repeats, table)
    on_part, _ = library(program, job, min(job.rows, MOST_ROWS), 1, table)
    part = np.load(table)
    theirs = []
    for _ in range(1 if job.is_slow else 3):
        peer_kept, seconds = job.run(part, cut, job.rows, folder)
        theirs.append(seconds)
    # float32 may flip pairs at the very cut.
    agree = abs(on_part - peer_kept) <= 2e-6 * pairs
    return {"peer_seconds": median(theirs), "seconds": ours, "agree": agree, "kept": kept,
            "pairs_per_second": pairs / ours,
            "peer_pairs_per_second": pairs / median(theirs)}


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
