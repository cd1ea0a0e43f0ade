#!/usr/bin/env python3
"""Times few long rows on the CPU beside NumPy and SciPy, call by call in turn, and checks the answers.

  wide_cpu_peers.py BUILD [--level best] [--shapes 1000x1200 ...] [--threads 1] [--json results.json]

BUILD holds the program wide_cpu_job. A level of the library (GPU_SIMILARITY_CPU_LEVEL) stands beside OpenBLAS's kernels
for the same processors (OPENBLAS_CORETYPE): a processor that has no AVX-512 has neither. Peers:
  corrcoef   numpy.corrcoef in doubles, for dense results of Pearson
  rankdata   scipy.stats.rankdata and numpy.corrcoef, for counts and edges of Spearman; their comparison is not timed
  tiles      for the same: float32 products of unit rows of ready ranks, tile by tile of the upper triangle, compared with
             the cut and counted; beside the library's pairs alone, without its preparation
Prints a line a job: the best of several calls, seconds, and how often the peer takes the library's time. Of one thread
these are seconds in the processor, so that other work on the machine matters less. --json adds to the jobs of a file
those of this run."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# "best": both take what they find best on this processor.
CORES = {"best": "", "baseline": "Nehalem", "avx2": "Haswell", "avx512": "SkylakeX", "amx": "SkylakeX"}
# Rows, columns, data: normal values, rows alike, or pixels (bytes of which four of five are 0).
SHAPES = ["100x100", "300x300", "500x500", "1000x1200", "2000x2000", "1500x1800", "1500x1860", "1500x1900", "1500x2500",
          "1000x20000", "400x100000", "2000x100000", "784x60000:pixels", "20000x2000", "5000x5000"]
TILE = 2048
COUNTS_P, EDGES_P = 0.05, 1e-6


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--level", choices=CORES, default="best")
    parser.add_argument("--shapes", nargs="+", default=SHAPES, metavar="ROWSxCOLS[:alike|:pixels]")
    parser.add_argument("--measures", nargs="+", default=["pearson", "spearman"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4, help="of each job, for its calls and the peer's")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


ASKED = arguments() if __name__ == "__main__" else None
if ASKED:  # before NumPy is loaded
    os.environ |= {"OMP_NUM_THREADS": str(ASKED.threads), "OPENBLAS_NUM_THREADS": str(ASKED.threads)}
    if ASKED.level != "best":
        os.environ |= {"OPENBLAS_CORETYPE": CORES[ASKED.level], "GPU_SIMILARITY_CPU_LEVEL": ASKED.level}

import numpy as np  # noqa: E402
from scipy.stats import rankdata  # noqa: E402

import pair_peers  # noqa: E402


def make_rows(rows, cols, kind):
    random = np.random.default_rng(rows + cols)
    if kind == "pixels":
        shown = random.random((rows, cols), np.float32) < 0.2
        return random.integers(1, 256, (rows, cols), np.uint8) * shown.astype(np.uint8)
    values = random.standard_normal((rows, cols))
    if kind == "alike":
        values *= 0.6
        values += 0.8 * random.standard_normal((8, cols))[np.arange(rows) % 8]
    return values


class Library:
    """The program, with the table read."""

    def __init__(self, build, table):
        program = next(p for p in (build / "wide_cpu_job", build / "bench/wide_cpu_job") if p.exists())
        self.process = subprocess.Popen([program, table], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, measure, sink, max_p, file=""):
        """Seconds of the call and of its pairs; pairs kept."""
        self.process.stdin.write(f"{measure} {sink} {max_p!r} {file}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().split()
        if len(line) != 5:
            raise SystemExit("wide_cpu_job ended")
        whole, pairs = map(float, line[2:4] if ASKED.threads == 1 else line[:2])
        return whole, pairs, int(line[4])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def seconds_of(call):
    """Of one thread those in the processor, as other work may share the machine."""
    clock = time.process_time if ASKED.threads == 1 else time.perf_counter
    start = clock()
    call()
    return clock() - start


def in_turn(seconds, *calls):
    """The best of each, called in turn for so long: thrice at least, or once where that takes longer by far."""
    best, turns, start = [float("inf")] * len(calls), 0, time.perf_counter()
    while True:
        best = [min(b, call()) for b, call in zip(best, calls)]
        turns += 1
        spent = time.perf_counter() - start
        if spent > 6 * seconds or (turns >= 3 and spent > seconds):
            return best


class Report:
    def __init__(self):
        self.jobs, self.differing = [], 0

    def add(self, shape, job, peer, peer_seconds, seconds, agree):
        self.differing += not agree
        self.jobs.append({"level": ASKED.level, "threads": ASKED.threads, "shape": shape, "job": job, "peer": peer,
                          "peer_seconds": peer_seconds, "seconds": seconds, "ratio": peer_seconds / seconds,
                          "agree": bool(agree)})
        print(f"{ASKED.level:>12} {shape:>16} {job:24} {peer:9} {peer_seconds:10.5f} ours {seconds:10.5f} ratio "
              f"{peer_seconds / seconds:7.2f} {'' if agree else 'DIFFER'}", flush=True)


def pearson(report, shape, data, library, folder):
    dense = folder / "dense"
    library("pearson", "dense", 1, dense)
    wanted = np.corrcoef(data)
    agree = np.abs(np.fromfile(dense).reshape(wanted.shape) - wanted).max() < 1e-12
    dense.unlink()
    del wanted
    ours, theirs = in_turn(ASKED.seconds, lambda: library("pearson", "dense", 1)[0],
                           lambda: seconds_of(lambda: np.corrcoef(data)))
    report.add(shape, "pearson dense", "corrcoef", theirs, ours, agree)


def spearman(report, shape, data, library):
    cols = data.shape[1]
    ready = []

    def rank():
        ready[:] = []
        ready.append(rankdata(data, axis=1))
        np.corrcoef(ready[0])

    both = in_turn(ASKED.seconds, lambda: library("spearman", "counts", COUNTS_P)[0],
                   lambda: library("spearman", "edges", EDGES_P)[0], lambda: seconds_of(rank))
    unit = pair_peers.unit_rows(ready.pop())
    for sink, max_p, whole in (("counts", COUNTS_P, both[0]), ("edges", EDGES_P, both[1])):
        cut = np.float32(pair_peers.critical(max_p, cols))
        kept = []
        pairs, tiles = in_turn(ASKED.seconds / 2, lambda: library("spearman", sink, max_p)[1],
                               lambda: seconds_of(lambda: kept.append(pair_peers.tiles_kept(unit, cut))))
        # float32 may flip pairs at the very cut.
        found = library("spearman", sink, max_p)[2]
        agree = abs(found - kept[0]) <= 1 + 2e-5 * len(data) ** 2 / 2
        job = f"spearman {sink}, p <= {max_p:g}"
        report.add(shape, job, "rankdata", both[2], whole, agree)
        report.add(shape, job, "tiles", tiles, pairs, agree)


def main():
    report = Report()
    scratch = "/dev/shm" if os.path.isdir("/dev/shm") else None
    for shape in ASKED.shapes:
        size, _, kind = shape.partition(":")
        data = make_rows(*map(int, size.split("x")), kind)
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            table = Path(folder, "table.npy")
            np.save(table, data)
            library = Library(ASKED.build, table)
            library("pearson", "counts", 1)
            table.unlink()
            if "pearson" in ASKED.measures:
                pearson(report, shape, data, library, Path(folder))
            if "spearman" in ASKED.measures:
                spearman(report, shape, data, library)
            library.close()
    if ASKED.json:
        told = json.loads(ASKED.json.read_text()) if ASKED.json.exists() else {"jobs": []}
        new = {(j["level"], j["threads"], j["shape"], j["job"], j["peer"]) for j in report.jobs}
        kept = [j for j in told["jobs"]
                if (j["level"], j["threads"], j["shape"], j["job"], j["peer"]) not in new]
        about = {"processor": pair_peers.processor(), "numpy": np.__version__}
        ASKED.json.write_text(json.dumps({**about, "jobs": kept + report.jobs}, indent=1) + "\n")
    return 1 if report.differing else 0


if __name__ == "__main__":
    sys.exit(main())
