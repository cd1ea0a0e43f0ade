"""What a run did, and what it would do."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class PairSummary(NamedTuple):
    """What a run over all pairs did. Every result has one as `.summary`.

    Attributes
    ----------
    rows, cols : int
        Shape of the input.
    constant_rows : ndarray of int64
        Rows without a statistic: all values equal or, for Pearson, an infinite value.
    nan_rows : ndarray of int64
        Rows that hold a NaN, with nans="propagate".
    patterns : int
        Distinct rank vectors that the rows were folded into; 0: each row for itself.
    pairs_tested, pairs_kept : int
        Pairs that have a statistic, and those that passed the filter.
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
    constant_rows: npt.NDArray[np.int64]
    nan_rows: npt.NDArray[np.int64]
    patterns: int
    pairs_tested: int
    pairs_kept: int
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
    pairs : int
        rows * (rows - 1) / 2.
    sampled_pairs : int
        Pairs of the sample behind the estimates.
    kept_estimate, kept_upper : float
        Expected number of kept pairs, and an upper bound at about three standard errors.
    result_bytes : float
        Host memory of the estimated edges.
    """

    backend: str
    device: str
    variant: str
    tile_rows: int
    tile_cols: int
    workspace_bytes: int
    pairs: int
    sampled_pairs: int
    kept_estimate: float
    kept_upper: float
    result_bytes: float


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.size} rows>"
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value)


def summary_from(fields: tuple[Any, ...]) -> PairSummary:
    """A PairSummary from the compiled part's tuple."""
    return tuple.__new__(PairSummary, fields)
