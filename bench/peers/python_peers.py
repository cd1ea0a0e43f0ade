#!/usr/bin/env python3
"""The Python package beside what its users would call: SciPy, NumPy, pandas, PyTorch, CuPy.

Each line is the fastest of some runs after a first one, in seconds, of the whole call on the same
array; a call that takes longer than a second is timed once. The lines of edges answer with the significant pairs alone,
without the matrix. The answer of every call is held to that of NumPy: matrices within 1e-5 (the
difference is in the raw figures), pairs exactly but for those within 1e-9 of the cut.

Usage: python_peers.py [--rows 1000 4000] [--columns 30 500] [--backend cpu|cuda] [--torch] [--cupy]
                       [--leave-out scipy pandas numpy host] [--json FILE]
"""

import argparse
import contextlib
import importlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gpu_similarity as gs
import numpy as np

LARGEST_DIFFERENCE = 1e-5


class Peer(NamedTuple):
    """A call, what its answer is held to, and that answer as NumPy has it."""

    name: str
    call: Callable[[], Any]
    expected: str  # "spearman" or "pearson", with " pairs" for the pairs behind the cut
    read: Callable[[Any], Any] = np.asarray


class Problem:
    """A table, the cut of its pairs, and the answers of NumPy."""

    def __init__(self, rows: int, columns: int, rng: np.random.Generator) -> None:
        # Half of what varies is common to all rows of a group of fifty.
        common = rng.normal(size=(rows // 50 + 1, columns)).repeat(50, axis=0)[:rows]
        self.x = common + rng.normal(size=(rows, columns))
        self.least = gs.critical_correlation(0.05 / (rows * (rows - 1) / 2), columns)
        ranks = self.x.argsort(1).argsort(1)  # without ties
        self._matrices = {"pearson": np.corrcoef(self.x), "spearman": np.corrcoef(ranks)}
        self._pairs = {name: self._near_the_cut(r) for name, r in self._matrices.items()}
        self._sample = rng.integers(0, rows, size=min(rows, 2000))

    def _near_the_cut(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that pass the cut certainly, and those that may, as row * rows + column."""
        i, j = np.nonzero(np.triu(np.abs(r), 1) >= self.least - 1e-9)
        codes = i * len(r) + j
        return codes[np.abs(r[i, j]) >= self.least + 1e-9], codes

    def difference(self, expected: str, got: Any) -> float:
        """How far an answer is from NumPy's; an AssertionError where it is another one."""
        if not expected.endswith(" pairs"):
            matrix, sample = self._matrices[expected], self._sample
            worst = np.abs(got[sample][:, sample] - matrix[sample][:, sample]).max()
            assert got.shape == matrix.shape and worst <= LARGEST_DIFFERENCE, worst
            return float(worst)
        certain, possible = self._pairs[expected.removesuffix(" pairs")]
        row, col = (np.asarray(end, dtype=np.int64) for end in got)
        found = row * len(self.x) + col
        assert len(np.unique(found)) == len(found)
        assert np.isin(certain, found).all() and np.isin(found, possible).all()
        return 0.0


def ends(edges: Any) -> Any:
    return edges.row, edges.col


def host_peers(problem: Problem, run: dict[str, Any], leave_out: list[str]) -> Iterator[Peer]:
    x = problem.x
    if "scipy" not in leave_out:
        with contextlib.suppress(ImportError):
            from scipy import stats

            yield Peer(
                "scipy.stats.spearmanr",
                lambda: stats.spearmanr(x, axis=1),
                "spearman",
                lambda got: got.statistic,
            )
    if "pandas" not in leave_out:
        with contextlib.suppress(ImportError):
            import pandas

            frame = pandas.DataFrame(x.T)
            yield Peer("pandas corr(spearman)", lambda: frame.corr("spearman"), "spearman")
            yield Peer("pandas corr(pearson)", lambda: frame.corr(), "pearson")
    if "numpy" not in leave_out:
        yield Peer("numpy.corrcoef", lambda: np.corrcoef(x), "pearson")
    if "host" in leave_out:
        return
    cut = {"max_p": 0.05, "adjust": "bonferroni"}
    yield Peer(
        "gs.spearmanr", lambda: gs.spearmanr(x, axis=1), "spearman", lambda got: got.statistic
    )
    yield Peer("gs.dense(spearman)", lambda: gs.dense(x, **run), "spearman", lambda d: d.matrix)
    yield Peer("gs.corrcoef", lambda: gs.corrcoef(x), "pearson")
    for measure in ("spearman", "pearson"):
        edges = getattr(gs, f"{measure}_edges")
        yield Peer(
            f"gs.{measure}_edges",
            lambda edges=edges: edges(x, **cut, **run),
            f"{measure} pairs",
            ends,
        )


def array_peers(problem: Problem, library: Any, place: str) -> Iterator[Peer]:
    """PyTorch or CuPy: from host to host, and for a GPU from device memory to device memory."""
    name = library.__name__
    torch = name == "torch"
    take = (lambda x: library.as_tensor(x, device=place)) if torch else library.asarray
    give = (lambda a: a.cpu().numpy()) if torch else (lambda a: a.get())
    x = take(problem.x)

    def ranks(table: Any) -> Any:
        places = table.argsort(1).argsort(1)
        return places.to(table.dtype) if torch else places.astype(table.dtype)

    def waited(answer: Any) -> Any:
        if place == "cuda":
            library.cuda.synchronize() if torch else library.cuda.Device().synchronize()
        return answer

    def pairs(table: Any) -> Any:
        r = library.corrcoef(table)
        found = (abs(library.triu(r, 1)) >= problem.least).nonzero()
        i, j = found.unbind(1) if torch else found
        return give(i), give(j), give(r[i, j])

    def first_two(got: Any) -> Any:
        return got[:2]

    corrcoef = library.corrcoef
    yield Peer(f"{name}.corrcoef, host to host", lambda: give(corrcoef(take(problem.x))), "pearson")
    yield Peer(f"{name}.corrcoef, cut and nonzero", lambda: pairs(x), "pearson pairs", first_two)
    yield Peer(
        f"{name} ranks, corrcoef, cut and nonzero",
        lambda: pairs(ranks(x)),
        "spearman pairs",
        first_two,
    )
    if place != "cuda":
        return
    yield Peer(f"{name}.corrcoef, on the device", lambda: waited(corrcoef(x)), "pearson", give)
    yield Peer(
        f"{name} ranks, corrcoef, on the device",
        lambda: waited(corrcoef(ranks(x))),
        "spearman",
        give,
    )
    for measure in ("pearson", "spearman"):
        yield Peer(
            f"gs.device.dense({measure}) of {name}",
            lambda measure=measure: waited(gs.device.dense(x, measure=measure)),
            measure,
            give,
        )
        edges = getattr(gs, f"{measure}_edges")
        yield Peer(
            f"gs.{measure}_edges of {name}",
            lambda edges=edges: edges(x, max_p=0.05, adjust="bonferroni"),
            f"{measure} pairs",
            ends,
        )


def measure(peer: Peer, problem: Problem, runs: int) -> dict[str, Any]:
    def seconds() -> float:
        began = time.perf_counter()
        answer = peer.call()
        took = time.perf_counter() - began
        del answer
        return took

    first = seconds()  # compiles and loads what is missing
    times = [seconds()] if first < 5 else [first]
    while len(times) < runs and sum(times) < 1:
        times.append(seconds())
    difference = problem.difference(peer.expected, peer.read(peer.call()))
    return {"call": peer.name, "seconds": min(times), "difference": difference}


def versions(names: list[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "pandas", *names):
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
    parser.add_argument("--cupy", action="store_true")
    parser.add_argument("--leave-out", nargs="*", default=[])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    names = [name for name in ("torch", "cupy") if getattr(arguments, name)]
    libraries = [importlib.import_module(name) for name in names]
    lines = []
    rng = np.random.default_rng(0)
    for rows in arguments.rows:
        for columns in arguments.columns:
            problem = Problem(rows, columns, rng)
            peers = [*host_peers(problem, {"backend": arguments.backend}, arguments.leave_out)]
            for library in libraries:
                peers += array_peers(problem, library, arguments.backend)
            for peer in peers:
                try:
                    line = measure(peer, problem, arguments.runs)
                except MemoryError as error:
                    print(f"{rows} x {columns}  {peer.name:40} {error}")
                    continue
                lines.append({"rows": rows, "columns": columns, **line})
                print(f"{rows} x {columns}  {peer.name:42} {line['seconds']:.5f} s", flush=True)
    if arguments.json:
        machine = {
            "cpu": gs.backends()[0].description,
            "gpu": [d.name for d in gs.devices()],
            "load": os.getloadavg()[0],
        }
        content = {"machine": machine, "versions": versions(names), "lines": lines}
        with open(arguments.json, "w") as file:
            json.dump(content, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
