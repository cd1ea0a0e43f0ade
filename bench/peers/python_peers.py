#!/usr/bin/env python3
"""The Python package beside what its users would call: SciPy, NumPy, pandas, PyTorch.

Each line is the fastest of some runs, in seconds, of the whole call on the same array. The lines of
edges answer with the significant pairs alone, without the matrix.

Usage: python_peers.py [--rows 1000 4000] [--columns 30 500] [--backend cpu|cuda] [--torch]
                       [--json FILE]
"""

import argparse
import contextlib
import importlib
import json
import os
import platform
import time
from collections.abc import Callable

import gpu_similarity as gs
import numpy as np


def seconds(call: Callable[[], object], runs: int) -> float:
    call()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def calls(x: np.ndarray, run: dict, torch: bool) -> dict[str, Callable[[], object]]:
    out: dict[str, Callable[[], object]] = {}
    with contextlib.suppress(ImportError):
        from scipy import stats

        out["scipy.stats.spearmanr"] = lambda: stats.spearmanr(x, axis=1)
    with contextlib.suppress(ImportError):
        import pandas

        frame = pandas.DataFrame(x.T)
        out["pandas corr(spearman)"] = lambda: frame.corr("spearman")
        out["pandas corr(pearson)"] = lambda: frame.corr()
    cut = {"max_p": 0.05, "adjust": "bonferroni"}
    out |= {
        "gs.spearmanr": lambda: gs.spearmanr(x, axis=1),
        "gs.dense(spearman)": lambda: gs.dense(x, **run),
        "gs.spearman_edges, Bonferroni": lambda: gs.spearman_edges(x, **cut, **run),
        "numpy.corrcoef": lambda: np.corrcoef(x),
        "gs.corrcoef": lambda: gs.corrcoef(x),
        "gs.pearson_edges, Bonferroni": lambda: gs.pearson_edges(x, **cut, **run),
    }
    if torch:
        import torch as pytorch

        place = run["backend"]
        on_device = pytorch.as_tensor(x, device=place)
        out[f"torch.corrcoef, {place}"] = lambda: pytorch.corrcoef(on_device).cpu()
        least = gs.critical_correlation(0.05 / (len(x) * (len(x) - 1) / 2), x.shape[1])

        if place == "cuda":
            out["gs.pearson_edges, on the device"] = lambda: gs.pearson_edges(on_device, **cut)

        def torch_edges() -> object:
            r = pytorch.corrcoef(on_device).triu(1)
            pairs = (r.abs() >= least).nonzero()
            return pairs.cpu(), r[pairs[:, 0], pairs[:, 1]].cpu()

        out[f"torch.corrcoef, cut and nonzero, {place}"] = torch_edges
    return out


def versions(torch: bool) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "pandas", *(("torch",) if torch else ())):
        with contextlib.suppress(ImportError):
            found[name] = importlib.import_module(name).__version__
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--columns", type=int, nargs="+", default=[30, 500])
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    lines = []
    rng = np.random.default_rng(0)
    for rows in arguments.rows:
        for columns in arguments.columns:
            # Half of what varies is common to all rows of a group of fifty.
            common = rng.normal(size=(rows // 50 + 1, columns)).repeat(50, axis=0)[:rows]
            x = common + rng.normal(size=(rows, columns))
            for name, call in calls(x, {"backend": arguments.backend}, arguments.torch).items():
                try:
                    took = seconds(call, arguments.runs)
                except MemoryError as error:
                    print(f"{rows} x {columns}  {name:40} {error}")
                    continue
                lines.append({"rows": rows, "columns": columns, "call": name, "seconds": took})
                print(f"{rows} x {columns}  {name:40} {took:.4f} s", flush=True)
    if arguments.json:
        machine = {
            "cpu": gs.backends()[0].description,
            "gpu": [d.name for d in gs.devices()],
            "load": os.getloadavg()[0],
        }
        content = {"machine": machine, "versions": versions(arguments.torch), "lines": lines}
        with open(arguments.json, "w") as file:
            json.dump(content, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
