"""Benjamini and Hochberg's cut of a job in parts: passes that count, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._pairs.call import pair_call
from .._pairs.pairs import counts
from .._shared.options import Measure

# Computes a function of the number of a part, and a step, for all parts.
Pass = Callable[[Any], Iterable[Any]]


def count_part(tables: Sequence[Any], measure: Measure, options: dict[str, Any], step: Any) -> Any:
    """What one part counts for a step: bins of the search; pair by pair (tested, kept)."""
    left = {
        k: v for k, v in options.items() if k not in ("adjust", "min_abs", "max_edges", "order")
    }
    if options.get("nans") == "pairwise":
        found = counts(*tables, measure=measure, **{**left, "max_p": step or left["max_p"]})
        return found.tested, found.kept
    max_p, tail = left.pop("max_p", 1.0), left.pop("tail", None) or "two-sided"
    x, y = tables
    call = pair_call(x, y, measure, left, max_p, 0.0, tail)  # type: ignore[arg-type]
    return _core.count_discoveries(call.x, call.y, step, call.options)


def find_cut(count: Pass, max_p: float, is_pairwise: bool) -> float:
    """The max_p without adjustment that keeps what the adjustment of the whole job keeps."""
    return _by_counts(count, max_p) if is_pairwise else _by_bins(count, max_p)


def _by_bins(count: Pass, max_p: float) -> float:
    step = None
    while True:
        parts = list(count(step))
        below, above = (sum(part[i] for part in parts) for i in (1, 2))
        bins = np.sum([part[3] for part in parts], axis=0, dtype=np.uint64)
        step, cut = _core.next_search(parts[0][0], below, above, bins.tolist())
        if cut is not None:
            # Without a discovery no p is that small; 0 would not be taken as a cut.
            return float(cut) if cut > 0 else max_p / max(1, step[3])


def _by_counts(count: Pass, max_p: float) -> float:
    """From the largest cut down: each pass counts what the one before leaves possible.

    Discoveries are the largest k of which k pairs have p <= max_p k / family. The number of pairs
    below the cut of a larger k is no smaller than it, so it never passes it by.
    """
    cut, most = float(max_p), None
    while True:
        parts = list(count(cut))
        family, kept = (sum(part[i] for part in parts) for i in (0, 1))
        if kept == most or kept == family == 0:
            return cut
        most = kept
        cut = float(max_p * max(1, kept) / max(1, family))
        if kept == 0:
            return cut
