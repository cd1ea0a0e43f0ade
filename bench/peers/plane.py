#!/usr/bin/env python3
"""Times the library over the plane of shapes, next to PyTorch on a GPU or NumPy on the CPU, in one process.

  plane.py cuda|cpu [--seconds S] [--seed N] [--output FILE] [--only WORD ... | --cell NAME ...] [--list]

A cell is an operation, a type, a kind of rows and a shape. Cells are drawn in an order that the seed
gives, until the time is over, so that a short run covers the whole plane thinly. Both answers of a cell
are compared before they are timed. FILE gets a JSON line a cell; the end says how many cells there are,
how many are below 1 and 1.5 times the peer's speed, the median, and names those below 1.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time

import numpy as np

import gpu_similarity as gs

ROWS = [2, 10, 30, 64, 100, 300, 1000, 3000, 10_000, 20_000, 40_000]
COLS = [3, 5, 16, 30, 64, 120, 250, 500, 1000, 2000, 5000, 20_000, 60_000, 200_000, 1_000_000]
QUERIES = [1, 10, 100, 1000, 10_000]
LIBRARY = [1000, 10_000, 100_000, 1_000_000]
LIBRARY_COLS = [16, 64, 128, 1000, 4000]
MOST_VALUES = 2e9  # bytes of a table
MOST_DENSE = 20_000 * 20_000
MAX_P = 0.05
STRICT_P = 1e-6
K = 10


def t_cut(max_p, cols):
    from scipy.stats import t
    quantile = t.isf(max_p / 2, cols - 2)
    return float(quantile / np.sqrt(cols - 2 + quantile * quantile))


class Torch:
    """PyTorch on the current GPU, in the type of the data and without TF32."""

    name = "cuda"

    def __init__(self):
        import torch
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False

    def rows(self, rows, cols, dtype, alike, seed):
        torch = self.torch
        torch.manual_seed(seed)
        kind = {"float32": torch.float32, "float64": torch.float64, "int8": torch.float32}[dtype]
        x = torch.randn(rows, cols, device="cuda", dtype=kind)
        if alike:
            x = 0.6 * x + 0.8 * torch.randn(8, cols, device="cuda", dtype=kind)[torch.arange(rows, device="cuda") % 8]
        return (x * 3).round().to(torch.int8) if dtype == "int8" else x

    def finish(self):
        self.torch.cuda.synchronize()

    def unit(self, x, measure):
        torch = self.torch
        if measure == "spearman":
            x = x.argsort(1).argsort(1).to(torch.float32)
        elif x.dtype == torch.int8:
            x = x.float()
        if measure != "cosine":
            x = x - x.mean(1, keepdim=True)
        return x / x.norm(dim=1, keepdim=True)

    def matrix(self, x, y, measure):
        if y is None and measure != "cosine":
            if measure == "spearman":
                x = x.argsort(1).argsort(1).to(self.torch.float32)
            return self.torch.corrcoef(x.float() if x.dtype == self.torch.int8 else x)
        left = self.unit(x, measure)
        return left @ (left if y is None else self.unit(y, measure)).T

    def edges(self, m, cut, one_table):
        kept = (m.triu(1) if one_table else m).abs() >= cut
        return kept.nonzero()

    def counts(self, m, cut):
        return (m.abs() >= cut).sum(1)

    def top(self, m, k, one_table):
        m = m.abs()
        if one_table:
            m.fill_diagonal_(0)
        return m.topk(min(k, m.shape[1]), 1)

    def rank(self, x):
        return x.argsort(1).argsort(1) + 1

    def mean_filter(self, x, window):
        if window <= 128:
            return self.torch.nn.functional.avg_pool1d(x[:, None], window, 1)[:, 0]
        sums = self.torch.nn.functional.pad(x.double().cumsum(1), (1, 0))
        return ((sums[:, window:] - sums[:, :-window]) / window).to(x.dtype)

    def top_k(self, x, k):
        return x.topk(k, 1)[0]

    def top_k_distinct(self, x, k):
        values, counts = self.torch.unique(x, return_counts=True)
        return values[-k:].flip(0), counts[-k:].flip(0)

    def whole(self, x, levels):
        return (x * levels / 4).round().to(self.torch.int32)

    def signs(self, x):
        return ((x >= 0) * 2 - 1).to(self.torch.int8)

    def sign_products(self, x, y):
        return self.torch._int_mm(x, y)

    def host(self, x):
        return x.cpu()

    def numpy(self, x):
        return x.cpu().numpy()


class NumPy:
    """NumPy, with its BLAS."""

    name = "cpu"

    def rows(self, rows, cols, dtype, alike, seed):
        rng = np.random.default_rng(seed)
        kind = np.float64 if dtype == "float64" else np.float32
        x = rng.standard_normal((rows, cols), dtype=kind)
        if alike:
            x = 0.6 * x + 0.8 * rng.standard_normal((8, cols), dtype=kind)[np.arange(rows) % 8]
        return np.round(x * 3).astype(np.int8) if dtype == "int8" else x.astype(kind)

    def finish(self):
        pass

    def unit(self, x, measure):
        if measure == "spearman":
            x = x.argsort(1).argsort(1).astype(np.float32)
        elif x.dtype == np.int8:
            x = x.astype(np.float32)
        if measure != "cosine":
            x = x - x.mean(1, keepdims=True)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def matrix(self, x, y, measure):
        if y is None and measure == "pearson" and x.dtype != np.int8:
            return np.corrcoef(x, dtype=x.dtype)
        left = self.unit(x, measure)
        return left @ (left if y is None else self.unit(y, measure)).T

    def edges(self, m, cut, one_table):
        kept = np.abs(np.triu(m, 1) if one_table else m) >= cut
        return np.argwhere(kept)

    def counts(self, m, cut):
        return (np.abs(m) >= cut).sum(1)

    def top(self, m, k, one_table):
        m = np.abs(m)
        if one_table:
            np.fill_diagonal(m, 0)
        k = min(k, m.shape[1])
        best = np.argpartition(m, m.shape[1] - k, axis=1)[:, m.shape[1] - k:]
        return np.take_along_axis(m, best, 1), best

    def rank(self, x):
        return x.argsort(1).argsort(1) + 1

    def mean_filter(self, x, window):
        from scipy.ndimage import uniform_filter1d
        cut = window // 2
        return uniform_filter1d(x, window, axis=1)[:, cut:x.shape[1] - cut]

    def top_k(self, x, k):
        best = np.take_along_axis(x, np.argpartition(x, x.shape[1] - k, 1)[:, -k:], 1)
        return np.take_along_axis(best, np.argsort(-best, 1), 1)

    def top_k_distinct(self, x, k):
        values, counts = np.unique(x, return_counts=True)
        return values[-k:][::-1], counts[-k:][::-1]

    def whole(self, x, levels):
        return (x * levels / 4).round().astype(np.int32)

    def host(self, x):
        return x

    def numpy(self, x):
        return np.asarray(x)


def pair_cells(peer):
    """All pairs of one table, and of x against y."""
    on_gpu = peer.name == "cuda"
    sinks = ["dense", "counts", "top_k", "edges"] + (["device_edges"] if on_gpu else [])
    for measure in ("pearson", "spearman"):
        for dtype in ("float32", "float64", "int8"):
            if dtype == "int8" and measure == "pearson":
                continue
            for alike in (False, True):
                for rows in ROWS:
                    for cols in COLS:
                        if rows * rows > MOST_DENSE or rows * cols * 8 > MOST_VALUES:
                            continue
                        for sink in sinks:
                            yield {"operation": "pairs", "measure": measure, "dtype": dtype, "alike": alike,
                                   "sink": sink, "rows": rows, "cols": cols, "y": 0}
    for measure in ("pearson", "spearman", "cosine"):
        for rows in QUERIES:
            for y in LIBRARY:
                for cols in LIBRARY_COLS:
                    if rows * y > 4e8 or y * cols * 4 > 2 * MOST_VALUES:
                        continue
                    for sink in sinks:
                        yield {"operation": "against", "measure": measure, "dtype": "float32", "alike": False,
                               "sink": sink, "rows": rows, "cols": cols, "y": y}


def operation_cells(peer):
    """The other operations. `sink` has the number that an operation is given; a product has `y` columns."""
    def cell(what, dtype, number, rows, cols, y=0):
        return {"operation": "operation", "measure": what, "dtype": dtype, "alike": False, "sink": str(number),
                "rows": rows, "cols": cols, "y": y}
    for dtype in ("float32", "float64"):
        for rows in (1, 10, 100, 1000, 10_000, 100_000):
            for cols in (30, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000):
                if rows * cols > 2e8 or rows * cols < 1000:
                    continue
                yield cell("rank", dtype, 0, rows, cols)
                yield from (cell("mean_filter", dtype, w, rows, cols) for w in (5, 31, 101, 1001, 20_001) if w < cols)
                yield from (cell("top_k", dtype, k, rows, cols) for k in (1, 10, 32, 100, 1000, 2048, 20_000)
                            if k < cols)
        for rows in (1, 64, 1000, 4096, 100_000):
            for cols in (16, 64, 1000, 4096):
                yield from (cell("matmul", dtype, 0, rows, cols, y) for y in (1, 16, 64, 1000, 4096))
    for cols in (10_000, 1_000_000, 100_000_000):
        for levels in (100, 1_000_000):
            yield from (cell("top_k_distinct", "int32", f"{k}/{levels}", 1, cols) for k in (20, 100, 1000))
    if peer.name == "cuda":
        for size in (1024, 4096, 8192, 16_384):
            yield cell("binary_matmul", "int8", 0, size, size, size)


class Operation:
    """One cell of operation_cells, as Pairs."""

    def __init__(self, cell, peer, seed):
        self.what, self.peer = cell["measure"], peer
        self.number, *levels = (int(n) for n in cell["sink"].split("/"))
        drawn = "float64" if cell["dtype"] == "float64" else "float32"
        self.x = peer.rows(cell["rows"], cell["cols"], drawn, False, seed)
        self.run = {} if peer.name == "cuda" else {"backend": "cpu"}
        if levels:
            self.x = peer.whole(self.x, levels[0])
        if cell["y"]:
            self.y = peer.rows(cell["cols"], cell["y"], drawn, False, seed + 1)
        if self.what == "binary_matmul":
            self.bits = [gs.pack_bits(self.x), gs.pack_bits(self.y.T.contiguous())]
            self.x, self.y = peer.signs(self.x), peer.signs(self.y)

    def ours(self):
        if self.what == "rank":
            return gs.rank(self.x, **self.run)
        if self.what == "mean_filter":
            return gs.mean_filter(self.x, self.number, boundary="valid", **self.run)
        if self.what == "top_k":
            return gs.top_k(self.x, self.number, **self.run).values
        if self.what == "top_k_distinct":
            found = gs.top_k_distinct(self.x[0], self.number, **self.run)
            return found.values, found.counts
        if self.what == "matmul":
            return gs.matmul(self.x, self.y, **self.run)
        return gs.binary_matmul(*self.bits, product="xnor_dot")

    def theirs(self):
        if self.what == "rank":
            return self.peer.rank(self.x)
        if self.what == "matmul":
            return self.x @ self.y
        if self.what == "binary_matmul":
            return self.peer.sign_products(self.x, self.y)
        x = self.x[0] if self.what == "top_k_distinct" else self.x
        return getattr(self.peer, self.what)(x, self.number)

    def difference(self):
        """The largest, as a share of the largest value."""
        ours, theirs = self.ours(), self.theirs()
        if not isinstance(ours, tuple):
            ours, theirs = (ours,), (theirs,)
        worst = 0.0
        for a, b in zip(ours, theirs, strict=True):
            a, b = (self.peer.numpy(v).ravel().astype(np.float64) for v in (a, b))
            worst = max(worst, np.abs(a[:b.size] - b).max() / max(1, np.abs(b).max()))
        return worst


class Pairs:
    """One cell: what the library and the peer are asked, and whether they say the same."""

    def __init__(self, cell, peer, seed):
        self.cell, self.peer = cell, peer
        self.x = peer.rows(cell["rows"], cell["cols"], cell["dtype"], cell["alike"], seed)
        self.y = peer.rows(cell["y"], cell["cols"], cell["dtype"], cell["alike"], seed + 1) if cell["y"] else None
        strict = "edges" in cell["sink"]
        self.measure = cell["measure"]
        self.cut = t_cut(STRICT_P if strict else MAX_P, cell["cols"]) if self.measure != "cosine" else (
            0.6 if strict else 0.3)
        self.host = {} if peer.name == "cuda" else {"axis": "rows", "backend": "cpu"}
        self.options = {"measure": self.measure, "min_abs": self.cut}
        self.room = 1

    def ours(self):
        sink, on_gpu = self.cell["sink"], self.peer.name == "cuda"
        if on_gpu and sink == "dense":
            return gs.device.dense(self.x, self.y, measure=self.measure, dtype=self.dense_type())
        if on_gpu and sink == "counts":
            return gs.device.counts(self.x, self.y, **self.options)
        if on_gpu and sink == "top_k":
            return gs.device.top_k_partners(self.x, K, self.y, measure=self.measure)
        if on_gpu and sink == "device_edges":
            return gs.device.edges(self.x, self.y, capacity=self.room, **self.options)
        if sink == "dense":
            return gs.dense(self.x, self.y, measure=self.measure, dtype=self.dense_type(), **self.host)
        if sink == "counts":
            return gs.counts(self.x, self.y, **self.options, **self.host)
        if sink == "top_k":
            return gs.top_k_partners(self.x, K, self.y, measure=self.measure, **self.host)
        return gs.edges(self.x, self.y, **self.options, **self.host)

    def dense_type(self):
        return "float64" if self.cell["dtype"] == "float64" else "float32"

    def theirs(self):
        sink, one = self.cell["sink"], self.y is None
        m = self.peer.matrix(self.x, self.y, self.measure)
        if sink == "dense":
            return m
        if sink == "counts":
            return self.peer.counts(m, self.cut)
        if sink == "top_k":
            return self.peer.top(m, K, one)
        found = self.peer.edges(m, self.cut, one)
        return self.peer.host(found) if sink == "edges" else found

    def difference(self):
        """What the two answers differ by: in a statistic, or as a share of what is kept. Ties are ranked otherwise by
        the peer, so of int8 only the cost is compared."""
        sink, as_numpy = self.cell["sink"], self.peer.numpy
        theirs = self.theirs()
        if "edges" in sink:
            self.room = max(1, 2 * len(theirs))
        ours = self.ours()
        if self.cell["dtype"] == "int8":
            return 0.0
        if sink == "dense":
            ours = as_numpy(ours) if self.peer.name == "cuda" else np.asarray(ours)
            return float(np.nanmax(np.abs(ours - as_numpy(theirs))))
        if sink == "counts":
            degree = as_numpy(ours.degree).astype(np.int64)
            own = 1 if self.y is None else 0  # the peer counts the diagonal
            expected = as_numpy(theirs).astype(np.int64) - own
            return float(np.abs(degree - expected).sum()) / max(1, expected.sum())
        if sink == "top_k":
            best = np.sort(np.abs(np.nan_to_num(as_numpy(ours.statistic))), 1)
            expected = np.sort(as_numpy(theirs[0]), 1)
            k = min(best.shape[1], expected.shape[1])
            return float(np.abs(best[:, best.shape[1] - k:] - expected[:, expected.shape[1] - k:]).max())
        found = int(as_numpy(ours.found)[0]) if sink == "device_edges" else len(ours)
        return abs(found - len(theirs)) / max(1, len(theirs))


MOST_DIFFERENCE = 3e-3  # of statistics in float32 near a cut, and of long sums of the peer


def milliseconds_of(call, peer, budget):
    """The least time of a call, of batches that take a few milliseconds each."""
    call()
    peer.finish()
    start = time.perf_counter()
    call()
    peer.finish()
    one = time.perf_counter() - start
    calls = max(1, min(50, int(0.002 / max(one, 1e-6))))
    best = one
    end = start + budget
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        peer.finish()
        now = time.perf_counter()
        best = min(best, (now - start) / calls)
        if now > end:
            break
    return 1e3 * best


# Multiply-adds and drawn values a second that each machine reaches at most, so that cells that last too long are left
# out before their rows are drawn.
RATES = {"cuda": (2e13, 1e10), "cpu": (1e11, 1e8)}


def least_ms(cell, target):
    products, values = RATES[target]
    partners = cell["y"] or (1 if cell["operation"] == "operation" else cell["rows"])
    drawn = (cell["rows"] + cell["y"]) * cell["cols"]
    return 1e3 * max(cell["rows"] * partners * cell["cols"] / products, drawn / values / 10)


def name_of(cell):
    shape = f"{cell['rows']} x {cell['cols']}" if not cell["y"] else f"{cell['rows']} x {cell['y']} x {cell['cols']}"
    return f"{cell['operation']} {cell['measure']} {cell['dtype']} {cell['sink']} {shape}{' alike' if cell['alike'] else ''}"


def cell_of(name):
    """The cell of a name, of any shape."""
    operation, measure, dtype, sink, *shape = name.split()
    numbers = [int(word) for word in shape if word.isdigit()]
    rows, y, cols = numbers if len(numbers) == 3 else (numbers[0], 0, numbers[1])
    return {"operation": operation, "measure": measure, "dtype": dtype, "alike": shape[-1] == "alike", "sink": sink,
            "rows": rows, "cols": cols, "y": y}


def report(done):
    """Counts of each kind, then the cells that are slower than the peer."""
    kinds = {}
    for cell in done:
        kinds.setdefault((cell["operation"], cell["measure"], cell["dtype"], cell["sink"]), []).append(cell["ratio"])
    for kind, ratios in sorted(kinds.items()):
        print(f"{' '.join(kind):44} {len(ratios):5} cells, below 1: {sum(r < 1 for r in ratios):4}, below 1.5: "
              f"{sum(r < 1.5 for r in ratios):4}, worst {min(ratios):6.2f}, median {statistics.median(ratios):6.2f}")
    ratios = [cell["ratio"] for cell in done]
    print(f"{'all':44} {len(ratios):5} cells, below 1: {sum(r < 1 for r in ratios):4}, below 1.5: "
          f"{sum(r < 1.5 for r in ratios):4}, worst {min(ratios):6.2f}, median {statistics.median(ratios):6.2f}")
    for cell in sorted((c for c in done if c["ratio"] < 1), key=lambda c: c["ratio"])[:60]:
        print(f"{cell['ratio']:6.2f} {name_of(cell)}: {cell['ms']:.3f} ms, peer {cell['peer_ms']:.3f}")
    for cell in done:
        if cell["difference"] > MOST_DIFFERENCE:
            print(f"DIFFERS by {cell['difference']:.2g}: {name_of(cell)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=["cuda", "cpu"])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output")
    parser.add_argument("--only", nargs="+", default=[], help="cells whose name has each of these words")
    parser.add_argument("--cell", nargs="+", default=[], help="these cells alone, however long they last")
    parser.add_argument("--most-ms", type=float, default=400, help="of a call of the peer; slower cells are left out")
    parser.add_argument("--list", action="store_true", help="print the names of the cells and end")
    asked = parser.parse_args()
    peer = Torch() if asked.target == "cuda" else NumPy()
    cells = [cell for cell in [*pair_cells(peer), *operation_cells(peer)] if all(word in name_of(cell) for word in asked.only)]
    random.Random(asked.seed).shuffle(cells)
    if asked.cell:
        cells, asked.most_ms = [cell_of(name) for name in asked.cell], float("inf")
    if asked.list:
        print(*map(name_of, cells), sep="\n")
        return 0
    out = open(asked.output, "w") if asked.output else open(os.devnull, "w")
    done, end = [], time.monotonic() + asked.seconds
    for cell in cells:
        if time.monotonic() > end:
            break
        if least_ms(cell, asked.target) > asked.most_ms:
            continue
        try:
            job = (Operation if cell["operation"] == "operation" else Pairs)(cell, peer, asked.seed)
            start = time.monotonic()
            cell["difference"] = job.difference()
            if time.monotonic() - start > 5 * asked.most_ms / 1e3:
                continue
            cell["peer_ms"] = milliseconds_of(job.theirs, peer, 0.03)
            if cell["peer_ms"] > asked.most_ms:
                continue
            cell["ms"] = milliseconds_of(job.ours, peer, 0.03)
        except (gs.Unsupported, MemoryError) as missing:
            print(f"left out: {name_of(cell)}: {missing}", flush=True)
            continue
        except Exception as failure:  # an out-of-memory of PyTorch is a class of its own
            print(f"FAILED: {name_of(cell)}: {type(failure).__name__}: {str(failure)[:200]}", flush=True)
            continue
        finally:
            job = None
        cell |= {"name": name_of(cell), "ratio": cell["peer_ms"] / cell["ms"]}
        done.append(cell)
        out.write(json.dumps(cell) + "\n")
        out.flush()
    print(f"{len(done)} of {len(cells)} cells, seed {asked.seed}")
    if done:
        report(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
