#!/usr/bin/env python3
"""Times the library's CPU backend beside what Python and R offer, operation by operation, on the
same data and machine, and checks that the answers agree.

  OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 cpu_peers.py BUILD [--only WORD ...] [--json results.json]

BUILD holds the programs pair_job and op_job. Prints a table in Markdown: medians of --repeats
calls (5), the library's after one that is not counted, and how often the peer takes the library's
time. A peer that takes seconds is called once or twice; a peer that is told to have run "on" less
than the job ran on that part and was scaled up in proportion. What is not installed is left out,
and said to be. Data and answers lie in the folder for temporary files (TMPDIR)."""
import argparse
import importlib
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

import pair_peers

ROOT = Path(__file__).resolve().parents[2]


def median(values):
    return sorted(values)[len(values) // 2]


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def timed(call, repeats):
    """The median of some calls, in seconds, and the answer of the last."""
    seconds, answer = [], None
    for _ in range(repeats):
        answer = None  # its memory goes back outside of the time
        start = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - start)
    return median(seconds), answer


class Peers:
    """Where the programs and the scratch files are, and the rows of the table."""

    def __init__(self, options, folder):
        self.only, self.repeats, self.folder = options.only, options.repeats, folder
        build = options.build.resolve()
        places = [build, build / "bench"]
        self.programs = {name: next((p / name for p in places if (p / name).exists()), None)
                         for name in ("op_job", "pair_job")}
        self.rows, self.left_out, self.differing = [], [], 0

    def wants(self, job):
        return not self.only or any(word in job for word in self.only)

    def lacks(self, job, what):
        self.left_out.append(f"{job}: left out, there is no {what} here")

    def run_ours(self, operation, file, repeats=None):
        """Seconds of op_job, and the file that holds its answer."""
        output = self.folder / "answer"
        told = subprocess.run([self.programs["op_job"], operation, file, output,
                               str(repeats or self.repeats)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return median(json.loads(told)), output

    def save(self, data):
        file = self.folder / "data.npy"
        np.save(file, data)
        return file

    def row(self, job, peer, peer_seconds, seconds, agree, **more):
        self.differing += not agree
        self.rows.append({"job": job, "peer": peer, "peer_seconds": peer_seconds,
                          "library_seconds": seconds, "ratio": peer_seconds / seconds,
                          "agree": bool(agree), **more})
        print(f"| {job} | {peer} | {peer_seconds:.4g} | {seconds:.4g} | "
              f"{peer_seconds / seconds:.3g} | {'yes' if agree else 'DIFFER'} |", flush=True)


def rank_rows(peers):
    job, rows = "rank_rows, 1,000,000 x 30 int32", 1_000_000
    stats = optional("scipy.stats")
    if stats is None:
        return peers.lacks(job, "SciPy")
    data = pair_peers.tied_counts(rows, 30)
    part = rows // 20
    theirs, ranks = timed(lambda: stats.rankdata(data[:part], axis=1), 3)
    ours, output = peers.run_ours("rank_rows", peers.save(data))
    agree = np.array_equal(np.fromfile(output, count=ranks.size), ranks.ravel())
    peers.row(job, f"SciPy rankdata, on {part:,} rows", theirs * rows / part, ours, agree)


def mean_filter(peers):
    size = 10_000_000
    data = np.random.default_rng(1).standard_normal(size)
    out = np.empty_like(data)
    file = peers.save(data[np.newaxis])
    np.copyto(out, data)
    copy_one, _ = timed(lambda: np.copyto(out, data), peers.repeats)
    copy_all, _ = peers.run_ours("copy", file)
    ndimage = optional("scipy.ndimage")
    for window in (5, 101, 1001):
        job = f"mean_filter, 10M double, w = {window}"
        ours, output = peers.run_ours(f"mean_filter:{window}", file)
        if ndimage is None:
            peers.lacks(job, "SciPy")
            agree = True
        else:
            theirs, _ = timed(lambda: ndimage.uniform_filter1d(data, window, output=out,
                                                               mode="constant"), 3)
            agree = np.allclose(np.fromfile(output), out, rtol=0, atol=1e-9)
            peers.row(job, "SciPy uniform_filter1d", theirs, ours, agree)
        peers.row(job, "np.copyto, one thread", copy_one, ours, agree)
        peers.row(job, "memcpy, all threads", copy_all, ours, agree)


def top_k(peers):
    size, k = 100_000_000, 20
    data = np.random.default_rng(1).standard_normal((1, size), dtype=np.float32)
    theirs, split = timed(lambda: np.partition(data[0], size - k), 2)
    wanted = np.sort(split[size - k:])[::-1]
    del split
    ours, output = peers.run_ours(f"top_k:{k}", peers.save(data))
    agree = np.array_equal(data[0][np.fromfile(output, dtype=np.int64)], wanted)
    peers.row("top_k, 20 of 100M float", "np.partition", theirs, ours, agree)


def distinct(peers):
    k = 20
    data = np.random.default_rng(1).integers(0, 1_000_000, (1, 1_000_000), dtype=np.int32)
    theirs, _ = timed(lambda: np.unique(data), peers.repeats)
    values, counts = np.unique(data, return_counts=True)
    ours, output = peers.run_ours(f"top_k_distinct:{k}", peers.save(data))
    wanted = np.concatenate((values[::-1][:k], counts[::-1][:k]))
    agree = np.array_equal(np.fromfile(output, dtype=np.int64), wanted)
    peers.row("top_k_distinct, 20 of 1M int32", "np.unique", theirs, ours, agree)


def binary_matmul(peers):
    n = 4096
    data = np.random.default_rng(1).choice(np.array([-1, 1], np.float32), (n, n))
    theirs, product = timed(lambda: data @ data.T, peers.repeats)
    ours, output = peers.run_ours("binary_matmul", peers.save(data))
    agree = np.array_equal(np.fromfile(output, dtype=np.int32), product.ravel())
    peers.row("binary_matmul, 4096 x 4096 x 4096, packed", "NumPy float32 product of +1 and -1",
              theirs, ours, agree)


def read_text(peers):
    job, rows, cols = "read text, 1,000,000 x 30 counts", 1_000_000, 30
    data = pair_peers.tied_counts(rows, cols)
    file = peers.folder / "counts.txt"
    digits = np.array([str(value) for value in range(11)])
    file.write_text("\n".join(" ".join(line) for line in digits[data].tolist()) + "\n")
    size = file.stat().st_size
    ours, output = peers.run_ours("read_text", file)
    agree = np.array_equal(np.fromfile(output, dtype=np.int8), data.ravel())
    more = {"bytes": size, "library_bytes_per_second": size / ours}
    pandas = optional("pandas")
    if pandas is None:
        peers.lacks(job, "pandas")
    else:
        theirs, table = timed(lambda: pandas.read_csv(file, sep=" ", header=None), 3)
        agree = agree and np.array_equal(table.to_numpy(), data)
        peers.row(job, "pandas.read_csv", theirs, ours, agree, **more)
    part = rows // 5
    theirs, table = timed(lambda: np.loadtxt(file, dtype=np.int32, max_rows=part), 1)
    agree = agree and np.array_equal(table, data[:part])
    peers.row(job, f"np.loadtxt, on {part:,} lines", theirs * rows / part, ours, agree, **more)


def write_edges(peers):
    count = 10_000_000

    def table(file, lines=200_000):
        with open(file, encoding="ascii") as text:
            text.readline()
            rows = [text.readline().split() for _ in range(lines)]
        return [row[:2] for row in rows], np.array([row[2:] for row in rows], float)

    theirs, output = peers.run_ours(f"print_edges:{count}", "none", 1)
    names, numbers = table(output)
    ours, output = peers.run_ours(f"write_edges:{count}", "none")
    our_names, our_numbers = table(output)
    agree = names == our_names and np.allclose(numbers, our_numbers, rtol=1e-5, atol=0)
    peers.row("write 10M edges, TSV", "a loop of fprintf", theirs, ours, agree)


def all_pairs(peers):
    """The jobs of pair_peers, where the library's program for them was built."""
    if peers.programs["pair_job"] is None:
        return peers.lacks("all pairs", "pair_job")
    for each in pair_peers.jobs():
        if not peers.wants(f"{each.name}, {each.peer}"):
            continue
        lacking = each.lacking()
        if lacking:
            peers.lacks(each.name, lacking)
            continue
        told = pair_peers.compare(each, peers.programs["pair_job"], peers.repeats,
                                  peers.folder)
        peers.row(each.name, each.peer, **told)


def commit():
    """COMMIT, for programs that were built elsewhere, else what git says of this checkout."""
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    told = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return told.stdout.strip() if told.returncode == 0 else "unknown"


def machine():
    versions = {name: module.__version__ for name in ("numpy", "scipy", "pandas")
                if (module := optional(name))}
    return {"processor": pair_peers.processor(), "cores": len(os.sched_getaffinity(0)),
            "threads": os.environ.get("OMP_NUM_THREADS", "default"),
            "python": platform.python_version(), **versions,
            "R": bool(shutil.which("Rscript")), "commit": commit()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=Path, help="folder with pair_job and op_job")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="jobs that have one of these words")
    options = parser.parse_args()
    operations = {"rank_rows": rank_rows, "mean_filter": mean_filter, "top_k": top_k,
                  "distinct": distinct, "binary_matmul": binary_matmul, "read": read_text,
                  "write": write_edges}
    here = machine()
    print(", ".join(f"{key} {value}" for key, value in here.items()))
    print("| job | peer | peer, s | library, s | ratio | answers agree |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(options, Path(folder))
        all_pairs(peers)
        for name, operation in operations.items():
            if not peers.wants(name):
                continue
            if peers.programs["op_job"] is None:
                peers.lacks(name, "op_job")
            else:
                operation(peers)
    print("\n".join(peers.left_out))
    if options.json:
        told = {**here, "jobs": peers.rows, "left_out": peers.left_out}
        options.json.write_text(json.dumps(told, indent=1, default=int) + "\n")
    return 1 if peers.differing else 0


if __name__ == "__main__":
    sys.exit(main())
