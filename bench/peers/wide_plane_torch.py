#!/usr/bin/env python3
"""Times tables of few long rows by PyTorch on the GPU beside the library, on the same rows.

  wide_plane_torch.py path/to/wide_job [--json FILE] [--shapes 1000x1200,...] [--correlated]

PyTorch: torch.corrcoef in float32 without TF32 and in float64; Spearman by argsort twice; counts,
top 10 and edges from that matrix. Checks both dense results (against float64 and average ranks). Prints one line a shape and job:
milliseconds of torch, of the library, and their ratio."""
import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from scipy.stats import t as student

SHAPES = ["1000x1200", "2000x2000", "5000x5000", "1000x20000", "400x100000", "2000x100000",
          "20000x2000", "20000x10000"]


def critical(max_p, cols):
    quantile = student.isf(max_p / 2, cols - 2)
    return float(quantile / np.sqrt(cols - 2 + quantile * quantile))


def milliseconds_of(work):
    work()
    torch.cuda.synchronize()
    times = []
    while len(times) < 15 and sum(times) < 300:
        start = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
        del result
    return sorted(times)[len(times) // 2]


def ranks(x):
    return x.argsort(1).argsort(1).float()


def average_ranks(x):
    ordered = x.sort(1).values
    low = torch.searchsorted(ordered, x)
    return (low + torch.searchsorted(ordered, x, right=True)).double()


def edges(matrix, cut):
    return (matrix.triu(1).abs() >= cut).nonzero()


def peers(x, host):
    cols = x.shape[1]
    loose, strict = critical(0.05, cols), critical(1e-6, cols)
    for name, matrix in (("pearson", lambda v: torch.corrcoef(v)),
                         ("spearman", lambda v: torch.corrcoef(ranks(v)))):
        yield f"{name} device dense-f32", lambda m=matrix: m(x)
        yield f"{name} device dense-f64", (
            (lambda: torch.corrcoef(x.double())) if name == "pearson" else (lambda m=matrix: m(x)))
        yield f"{name} device counts", lambda m=matrix: (m(x).abs() >= loose).sum(1)
        yield f"{name} device top-10", lambda m=matrix: m(x).fill_diagonal_(0).abs().topk(
            min(10, x.shape[0]), 1)
        yield f"{name} host edges-1e-6", lambda m=matrix: edges(m(host.cuda()), strict).cpu()
        yield f"{name} host counts", lambda m=matrix: (m(host.cuda()).abs() >= loose).sum(1).cpu()
        yield f"{name} host top-10", lambda m=matrix: m(host.cuda()).fill_diagonal_(0).abs().topk(
            min(10, x.shape[0]), 1)[0].cpu()
        yield f"{name} host dense-f32", lambda m=matrix: m(host.cuda()).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--correlated", action="store_true")
    asked = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    rows_of_report = []
    good = True
    for shape in asked.shapes.split(","):
        rows, cols = map(int, shape.split("x"))
        torch.manual_seed(rows + cols)
        x = torch.randn(rows, cols, device="cuda")
        if asked.correlated:
            x = 0.6 * x + 0.8 * torch.randn(8, cols, device="cuda")[torch.arange(rows) % 8]
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            file, dense = Path(folder) / "x", Path(folder) / "dense"
            host = x.cpu()
            host.numpy().tofile(file)
            checked = rows <= 5000
            theirs = {name: milliseconds_of(work) for name, work in peers(x, host)}
            wanted = None
            if checked:
                wanted = {"pearson": torch.corrcoef(x.double()).cpu().numpy(),
                          "spearman": torch.corrcoef(average_ranks(x)).cpu().numpy()}
            del host
            x = None
            torch.cuda.empty_cache()
            done = subprocess.run([asked.program, str(rows), str(cols), str(file)]
                                  + ([str(dense)] if checked else []),
                                  text=True, stdout=subprocess.PIPE)
            good &= done.returncode == 0
            for line in done.stdout.splitlines():
                measure, place, sink, median, best, found = line.split()
                name = f"{measure} {place} {sink}"
                ours = float(median)
                print(f"{shape:>12} {name:28} torch {theirs[name]:9.3f} library {ours:9.3f} "
                      f"(best {float(best):.3f}) ratio {theirs[name] / ours:6.2f} found {found}",
                      flush=True)
                rows_of_report.append({"shape": shape, "job": name, "torch_ms": theirs[name],
                                       "ms": ours, "best_ms": float(best), "found": float(found)})
            if checked and done.returncode == 0:
                parts = dense.read_bytes()
                for i, measure in enumerate(("pearson", "spearman")):
                    own = parts[i * 12 * rows * rows:(i + 1) * 12 * rows * rows]
                    for got, most in ((np.frombuffer(own[:8 * rows * rows]), 1e-12),
                                      (np.frombuffer(own[8 * rows * rows:], np.float32), 2e-6)):
                        off = float(np.abs(got.reshape(rows, rows) - wanted[measure]).max())
                        good &= off < most
                        print(f"{shape:>12} {measure} dense {got.dtype} is off by {off:.2g}", flush=True)
        if asked.json:
            Path(asked.json).write_text(json.dumps(
                {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                 "correlated": asked.correlated, "jobs": rows_of_report}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
