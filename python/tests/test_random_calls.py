"""Random combinations of table, measure, option, sink, part and backend, held to definitions.

The definitions go pair by pair, by SciPy and exact sums, and share nothing with the library; NaN
stands for no statistic. Each seed is one job, with every sink. GPU_SIMILARITY_RANDOM_CALLS=N tries
N of them, from GPU_SIMILARITY_RANDOM_SEED on; a failing seed is in the name of its test.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

CALLS = int(os.environ.get("GPU_SIMILARITY_RANDOM_CALLS", "60"))
FIRST = int(os.environ.get("GPU_SIMILARITY_RANDOM_SEED", "0"))
BACKENDS = [b.name for b in gs.backends() if b.usable]
MEASURES = ["spearman", "pearson", "kendall", "cosine", "bicor"]

Array = np.ndarray
# Closer to a cut than this, relative to it, a pair may fall on either side.
CLOSE = 1e-7


def _scaled(row: Array) -> Array:
    row = row.astype(float)
    return row / (np.abs(row).max() or 1.0)


def _biweight(row: Array) -> Array:
    """The row about its median, weighted; about its mean where the MAD is 0."""
    off = row - np.median(row)
    mad = np.median(np.abs(off))
    if mad == 0:
        return row - row.mean()
    u = off / (9 * mad)
    return off * np.where(np.abs(u) < 1, (1 - u * u) ** 2, 0.0)


def statistic(measure: str, x: Array, y: Array) -> float:
    """Of two rows without missing values."""
    if measure == "kendall":
        return float(stats.kendalltau(x, y).statistic)
    if measure == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    x, y = _scaled(x), _scaled(y)
    if measure != "cosine":
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return math.nan
        centred = _biweight if measure == "bicor" else lambda row: row - math.fsum(row) / len(row)
        x, y = centred(x), centred(y)
    length = math.sqrt(math.fsum(x * x) * math.fsum(y * y))
    return math.fsum(x * y) / length if length > 0 else math.nan


def p_value(measure: str, x: Array, y: Array, value: float, tail: str) -> float:
    """Of a statistic of two rows without missing values."""
    if measure == "kendall":
        return float(stats.kendalltau(x, y, alternative=tail).pvalue)
    freedom = len(x) - 2
    spread = (1 - value) * (1 + value)
    t = value * math.sqrt(freedom / spread) if spread > 0 else math.copysign(math.inf, value)
    student = stats.t(freedom)
    if tail == "two-sided":
        return float(2 * student.sf(abs(t)))
    return float(student.sf(t) if tail == "greater" else student.cdf(t))


@dataclass
class Pairs:
    """Statistics and p of all pairs of rows of x, or of x against y."""

    measure: str
    x: Array
    y: Array | None
    tail: str = "two-sided"
    pairwise: bool = False
    min_observations: int = 3
    statistics: Array = field(init=False)
    p: Array = field(init=False)

    def __post_init__(self) -> None:
        others = self.x if self.y is None else self.y
        self.statistics = np.full((len(self.x), len(others)), math.nan)
        self.p = self.statistics.copy()
        for i, j in np.ndindex(self.statistics.shape):
            if self.y is None and j <= i:
                self.statistics[i, j], self.p[i, j] = self.statistics[j, i], self.p[j, i]
                continue
            rows = self._rows(self.x[i], others[j])
            if rows is None:
                continue
            value = statistic(self.measure, *rows)
            self.statistics[i, j] = value
            if self.measure != "cosine" and not math.isnan(value):
                self.p[i, j] = p_value(self.measure, *rows, value, self.tail)

    def _rows(self, x: Array, y: Array) -> tuple[Array, Array] | None:
        there = ~(np.isnan(x.astype(float)) | np.isnan(y.astype(float)))
        if not self.pairwise and not there.all():
            return None
        if there.sum() < self.min_observations:
            return None
        return x[there], y[there]

    @property
    def tested(self) -> list[tuple[int, int]]:
        """Pairs that have a statistic."""
        return [
            (i, j)
            for i, j in np.ndindex(self.statistics.shape)
            if (self.y is not None or i < j) and not math.isnan(self.statistics[i, j])
        ]

    def in_tail(self, value: Any) -> Any:
        """What a one-sided cut compares: large is extreme."""
        if self.tail == "two-sided":
            return np.abs(value)
        return value if self.tail == "greater" else -value

    def cut(self, max_p: float, adjust: str) -> float:
        """The p up to which pairs are kept."""
        tested = self.tested
        if adjust == "bonferroni":
            return max_p / max(1, len(tested))
        if adjust != "benjamini-hochberg":
            return max_p
        in_order = sorted(self.p[pair] for pair in tested)
        held = [p for k, p in enumerate(in_order, 1) if p <= max_p * k / len(in_order)]
        return held[-1] if held else -1.0

    def kept(
        self, max_p: float = 1.0, min_abs: float = 0.0, adjust: str = "none"
    ) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Pairs that are kept, and pairs that are so close to a cut that they may be."""
        cut = math.inf if self.measure == "cosine" else self.cut(max_p, adjust)
        sure, close = set(), set()
        for pair in self.tested:
            size = float(self.in_tail(self.statistics[pair]))
            p = 0.0 if self.measure == "cosine" else float(self.p[pair])
            near_p = math.isfinite(cut) and cut < 1 and abs(p - cut) <= 10 * CLOSE * cut
            if near_p or (min_abs > 0 and abs(size - min_abs) <= CLOSE):
                close.add(pair)
            elif p <= cut and (min_abs == 0 or size >= min_abs):
                sure.add(pair)
        return sure, close


def random_table(random: np.random.Generator, rows: int, cols: int) -> np.ndarray:
    small = random.choice([np.int8, np.int16, np.int32, np.int64])
    factors = random.normal(size=(rows, 2)) @ random.normal(size=(2, cols))
    tables = [
        lambda: random.normal(size=(rows, cols)),
        lambda: random.integers(0, 4, (rows, cols)).astype(float),
        lambda: random.integers(-100, 100, (rows, cols)).astype(small),
        lambda: random.integers(0, 200, (rows, cols)).astype(np.uint8),
        lambda: factors + 0.3 * random.normal(size=(rows, cols)),
        lambda: random.normal(size=(rows, cols)) * 10.0 ** random.integers(-150, 150),
        lambda: (random.integers(1, 5, (rows, cols)) * (random.random((rows, cols)) < 0.3)).astype(
            np.float32
        ),
        lambda: np.round(random.normal(size=(rows, cols)), 1),
    ]
    table = random.choice(np.array(tables, dtype=object))()
    if random.random() < 0.3:
        table[random.integers(rows)] = table[0, 0]
    if random.random() < 0.2 and rows > 3:
        table[1] = table[2]
    return table


@dataclass
class RandomCall:
    """One job: its tables, its options and its cuts."""

    seed: int
    x: np.ndarray = field(init=False)
    y: np.ndarray | None = field(init=False, default=None)
    options: dict[str, Any] = field(init=False)
    cuts: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random = np.random.default_rng([self.seed, 20261126])
        rows, cols = random.integers(2, 24), random.integers(3, random.choice([12, 40, 140]))
        self.x = random_table(random, rows, cols)
        if random.random() < 0.35:
            self.y = random.permutation(self.x.T).T[: random.integers(1, rows + 1)].copy()
        self.options = {"measure": str(random.choice(MEASURES)), "backend": random.choice(BACKENDS)}
        self.options["p_method"] = "t"  # as SciPy, which p_value() is
        if self.x.dtype.kind == "f" and random.random() < 0.5:
            self._lose_values()
        if random.random() < 0.5:
            self.options["tail"] = str(random.choice(["greater", "less"]))
        if random.random() < 0.3:
            self.options["cpu_threads"] = int(random.integers(1, 5))
        if self.measure != "cosine" and random.random() < 0.7:
            self.cuts["max_p"] = float(random.choice([0.9, 0.3, 0.05, 1e-3]))
            if random.random() < 0.4:
                self.cuts["adjust"] = str(random.choice(["bonferroni", "benjamini-hochberg"]))
        if random.random() < 0.4:
            self.cuts["min_abs"] = round(float(random.random()) * 0.8, 3)

    def _lose_values(self) -> None:
        lost = self.random.random(self.x.shape) < self.random.choice([0.01, 0.1, 0.4])
        self.x = np.where(lost, self.x.dtype.type(np.nan), self.x)
        if self.random.random() < 0.6:
            self.options["nans"] = "pairwise"
            if self.random.random() < 0.5:
                most = max(4, self.x.shape[1] // 2)
                self.options["min_observations"] = int(self.random.integers(3, most))
        else:
            self.options["nans"] = "propagate"

    @property
    def measure(self) -> str:
        return self.options["measure"]

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.x,) if self.y is None else (self.x, self.y)

    def definition(self) -> Pairs:
        return Pairs(
            self.measure,
            self.x,
            self.y,
            tail=self.options.get("tail", "two-sided"),
            pairwise=self.options.get("nans") == "pairwise",
            min_observations=self.options.get("min_observations", 3),
        )

    def dense(self, x: Any = None) -> np.ndarray:
        options = {k: v for k, v in self.options.items() if k != "tail"}
        tables = self.tables if x is None else (x, *self.tables[1:])
        return np.asarray(gs.dense(*tables, **options))

    def pairs_of_parts(self, parts: int) -> list[tuple[int, int]]:
        every = []
        for k in range(parts):
            part = gs.edges(*self.tables, **self.options, **self.cuts, part=(k, parts))
            every += pairs_of(part.records)
        return every


def pairs_of(records: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(records["row"].tolist(), records["col"].tolist(), strict=True))


def check_edges(call: RandomCall, want: Pairs, found: np.ndarray) -> None:
    sure, close = want.kept(**call.cuts)
    pairs = pairs_of(found)
    assert len(set(pairs)) == len(pairs)
    assert sure <= set(pairs) <= sure | close
    for pair, line in zip(pairs, found, strict=True):
        value = want.statistics[pair]
        assert line["statistic"] == pytest.approx(value, rel=1e-7, abs=1e-9)
        if call.measure != "cosine" and abs(value) < 1 - 1e-6:
            assert line["p"] == pytest.approx(want.p[pair], rel=1e-6)


def check_partners(call: RandomCall, want: Pairs, found: np.ndarray) -> None:
    """The best partners are the best of the edges; a one-sided tail keeps its own sign."""
    size = {}
    for pair, value in zip(pairs_of(found), found["statistic"], strict=True):
        size[pair] = float(want.in_tail(value))
        if call.y is None:
            size[pair[::-1]] = size[pair]
    k = int(call.random.integers(1, 6))
    partners = gs.top_k_partners(call.tables[0], k, *call.tables[1:], **call.options, **call.cuts)
    for row, got in enumerate(partners.statistic):
        best = sorted((s for (i, _), s in size.items() if i == row and s >= 0), reverse=True)
        there = got[~np.isnan(got)]
        assert want.in_tail(there).tolist() == pytest.approx(best[:k], abs=1e-12)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CALLS))
def test_every_sink(seed: int) -> None:
    call = RandomCall(seed)
    want = call.definition()
    dense = call.dense()
    off = ~np.eye(*dense.shape, dtype=bool) if call.y is None else np.ones(dense.shape, dtype=bool)
    np.testing.assert_allclose(dense[off], want.statistics[off], rtol=CLOSE, atol=1e-9)

    edges = gs.edges(*call.tables, **call.options, **call.cuts)
    found = edges.records
    check_edges(call, want, found)
    counts = gs.counts(*call.tables, **call.options, **call.cuts)
    assert counts.summary.pairs_kept == len(found)
    assert counts.summary.pairs_tested == edges.summary.pairs_tested

    adjust = call.cuts.get("adjust", "none")
    if adjust == "none" or (adjust == "bonferroni" and call.options.get("nans") != "pairwise"):
        assert sorted(call.pairs_of_parts(int(call.random.integers(2, 6)))) == sorted(
            pairs_of(found)
        )
    streamed = [
        pair
        for batch in gs.stream(*call.tables, **call.options, **call.cuts)
        for pair in pairs_of(batch.records)
    ]
    assert sorted(streamed) == sorted(pairs_of(found))
    if adjust == "none":
        check_partners(call, want, found)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CALLS, 4))
def test_however_the_table_lies(seed: int) -> None:
    """Column by column in memory, or as the stored values alone: the same bytes."""
    call = RandomCall(seed)
    dense = call.dense()
    np.testing.assert_array_equal(call.dense(np.asfortranarray(call.x)), dense)
    if call.x.dtype.kind == "f" and "nans" not in call.options:
        sparse = pytest.importorskip("scipy.sparse")
        np.testing.assert_array_equal(call.dense(sparse.csr_matrix(call.x)), dense)
