"""What a run did, and what it would do."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .checksum import Checksum


class PairSummary(NamedTuple):
    """What a run over all pairs did. Every result has one as `.summary`.

    Attributes
    ----------
    rows, cols : int
        Shape of the input; of x against y, of x.
    observations : int or float
        Of the test of a pair: the columns, or `effective_observations`, less one for each
        covariate; 0 where there is no p.
    constant_rows : ndarray of int64
        Rows without a statistic because all values are equal. With nans="pairwise" also those with
        fewer values than `min_observations`.
    nan_rows : ndarray of int64
        Rows that hold a NaN, with nans="propagate".
    infinite_rows : ndarray of int64
        Rows without a statistic because they hold an infinite value; measures of ranks have none.
    y_rows : int or None
        Rows of y, or None for the pairs of one table.
    y_constant_rows, y_nan_rows, y_infinite_rows : ndarray of int64
        As `constant_rows`, `nan_rows` and `infinite_rows`, of y.
    part_begin, part_end : int
        The rows that the call was about, as a slice: all, except for a part.
    patterns : int
        Distinct rank vectors that the rows were folded into; 0: each row for itself.
    pairs_tested, pairs_kept : int
        Pairs that have a statistic, and those that passed the filter; of partners, the entries.
    pairs_by_t : int
        Where `test` is "permutations": those of pairs_tested whose p is that of Student's t,
        because a row has ties or there are more than 1290 columns; else 0.
    test : str
        The test behind p: "student_t", "floored_t" (Student's t that is never below `least_p`),
        "permutations", "kendall", or "none".
    least_p : float
        No p of Spearman is below it: 2 / observations!, one-sided half of it; ties make it larger.
        0 of other tests, and with p_method="t".
    checksum : Checksum
        Of the edges or entries; zeros where the result has no pairs one by one.
    max_p_effective : float
        The cut on p after the adjustment.
    min_abs_effective : float
        The least magnitude that was kept on any side.
    cut_at_least, cut_at_most : float
        The cut that decided, with its sign: kept are statistics of at least `cut_at_least` and of
        at most `cut_at_most`; infinity and -infinity where that side keeps none.
    backend, device, variant : str
        What ran.
    prepare_seconds, pairs_seconds : float
        Ranking or scaling of the rows, and the pairs.
    """

    rows: int
    cols: int
    observations: float
    constant_rows: npt.NDArray[np.int64]
    nan_rows: npt.NDArray[np.int64]
    infinite_rows: npt.NDArray[np.int64]
    y_rows: int | None
    y_constant_rows: npt.NDArray[np.int64]
    y_nan_rows: npt.NDArray[np.int64]
    y_infinite_rows: npt.NDArray[np.int64]
    part_begin: int
    part_end: int
    patterns: int
    pairs_tested: int
    pairs_kept: int
    pairs_by_t: int
    test: str
    least_p: float
    checksum: Checksum
    max_p_effective: float
    min_abs_effective: float
    cut_at_least: float
    cut_at_most: float
    backend: str
    device: str
    variant: str
    prepare_seconds: float
    pairs_seconds: float

    def __repr__(self) -> str:
        lines = [f"{name}={_short(value)}" for name, value in zip(self._fields, self, strict=True)]
        return "PairSummary(" + ", ".join(lines) + ")"

    def shape(self) -> str:
        """The tables in words, as "5,000 rows" or "5,000 x 20 rows"."""
        against = "" if self.y_rows is None else f" x {self.y_rows:,}"
        return f"{self.rows:,}{against} rows"

    def cut(self, symbol: str) -> str:
        """The filter in words, as "|rho| >= 0.5"."""
        keeps_positive = math.isfinite(self.cut_at_least)
        keeps_negative = math.isfinite(self.cut_at_most)
        if keeps_positive and keeps_negative:
            return f"|{symbol}| >= {self.cut_at_least:.6g}"
        if keeps_positive:
            return f"{symbol} >= {self.cut_at_least:.6g}"
        if keeps_negative:
            return f"{symbol} <= {self.cut_at_most:.6g}"
        return f"no {symbol} reaches the cut"


class PairPlan(NamedTuple):
    """What a call over all pairs would do, as `plan` tells.

    Attributes
    ----------
    backend, device, variant : str
        What would run.
    tile_rows, tile_cols : int
        Block of the pair matrix that is computed at once.
    workspace_bytes : int
        Scratch memory, on each device.
    choice : str
        On CUDA: how pairs would be decided, and why, in words.
    pairs : int
        rows * (rows - 1) / 2; of x against y, the product of their rows.
    sampled_pairs : int
        Pairs of the sample behind the estimates.
    kept_estimate, kept_upper : float
        Expected number of kept pairs, and an upper bound at about three standard errors.
    result_bytes : float
        Host memory of the estimated edges.
    warning : str
        Empty, or what makes the first call slower: the library holds no machine code for the
        device, so that the driver compiles it first.
    """

    backend: str
    device: str
    variant: str
    tile_rows: int
    tile_cols: int
    workspace_bytes: int
    choice: str
    pairs: int
    sampled_pairs: int
    kept_estimate: float
    kept_upper: float
    result_bytes: float
    warning: str


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.size} rows>"
    if isinstance(value, Checksum):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value)


def running_summary(rows: int, cols: int, observations: float, y_rows: int | None) -> PairSummary:
    """What is known of a run whose batches are read before it has ended."""
    none = np.empty(0, np.int64)
    pairs = rows * (rows - 1) // 2 if y_rows is None else rows * y_rows
    return PairSummary(
        rows=rows,
        cols=cols,
        observations=observations,
        constant_rows=none,
        nan_rows=none,
        infinite_rows=none,
        y_rows=y_rows,
        y_constant_rows=none,
        y_nan_rows=none,
        y_infinite_rows=none,
        part_begin=0,
        part_end=rows,
        patterns=0,
        pairs_tested=pairs,
        pairs_kept=0,
        pairs_by_t=0,
        test="",
        least_p=0.0,
        checksum=Checksum(),
        max_p_effective=1.0,
        min_abs_effective=0.0,
        cut_at_least=0.0,
        cut_at_most=0.0,
        backend="",
        device="",
        variant="",
        prepare_seconds=0.0,
        pairs_seconds=0.0,
    )
