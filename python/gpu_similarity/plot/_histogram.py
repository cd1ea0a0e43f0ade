"""Histogram of the statistic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._results.results import Counts
from .._shared.options import Measure, Tail
from .._tables.arrays import doubles
from ._axes import axes_of, symbol_of


def histogram(
    counts: Counts, *, ax: Any = None, cut: float | None = None, tail: Tail = "two-sided"
) -> Any:
    """Histogram of the statistic beside what independent rows would give, with the cut.

    Parameters
    ----------
    counts : Counts
        Of `counts(x, bins=...)`, with a filter that keeps every pair.
    ax : matplotlib axes, optional
        Where to draw.
    cut : float, optional
        Magnitude of the statistic to mark, as `critical_correlation` gives it; the legend has it.

    tail : {"two-sided", "greater", "less"}
        Which sides the cut is on.

    Returns
    -------
    matplotlib axes
        Pairs in each bin, on a logarithmic axis.

    Raises
    ------
    ValueError
        For counts without a histogram.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> axes = gs.plot.histogram(gs.counts(x, bins=40), cut=gs.critical_correlation(0.01, 20))
    >>> axes.get_xlabel()
    'ρ'
    """
    if not len(counts.histogram):
        raise ValueError("counts: got no histogram; ask for one with counts(x, bins=100)")
    axes = axes_of(ax)
    edges, symbol = counts.bin_edges, symbol_of(counts.symbol)
    observations = counts.summary.observations or counts.summary.cols
    expected = counts.tested * null_share(edges, observations, counts.measure)
    middle = (edges[1:] + edges[:-1]) / 2
    some = counts.histogram > 0  # a bar has no length on a logarithmic axis
    axes.scatter(middle[some], counts.histogram[some], s=6, color="tab:blue", label="pairs")
    axes.plot(middle, expected, color="black", lw=1, label="independent rows")
    if cut is not None:
        label: str | None = {
            "two-sided": f"cut: |{symbol}| ≥ {cut:.4g}",
            "greater": f"cut: {symbol} ≥ {cut:.4g}",
            "less": f"cut: {symbol} ≤ {-cut:.4g}",
        }[tail]
        for at in {"two-sided": (-cut, cut), "greater": (cut,), "less": (-cut,)}[tail]:
            axes.axvline(at, color="tab:red", ls="--", lw=1, label=label)
            label = None
    axes.set_yscale("log")
    axes.set_ylim(0.5, 4 * max(1.0, float(counts.histogram.max()), float(expected.max())))
    axes.set_xlim(-1, 1)
    axes.set_xlabel(symbol)
    axes.set_ylabel("pairs")
    axes.legend(frameon=False)
    return axes


def null_share(
    bin_edges: npt.ArrayLike, observations: float, measure: Measure = "pearson"
) -> npt.NDArray[np.float64]:
    """Share of the pairs of independent rows in each bin of the correlation.

    Parameters
    ----------
    bin_edges : array_like, shape (bins + 1,)
        Ascending, in [-1, 1].
    observations : float
        At least 3.
    measure : str
        What the correlation is of.

    Returns
    -------
    ndarray, shape (bins,)
        From Student's t distribution with observations - 2 degrees of freedom; of Kendall's tau
        from the normal distribution, as of rows without ties.

    Examples
    --------
    >>> from gpu_similarity.plot import null_share
    >>> null_share([-1, 0, 1], 30)
    array([0.5, 0.5])
    """
    from .._results.test_of_correlation import p_value

    edges = doubles(bin_edges, "bin_edges")
    if measure == "kendall":
        variance = 2 * (2 * observations + 5) / (9 * observations * (observations - 1))
        z = edges / math.sqrt(variance)
        return np.diff([math.erfc(-own / math.sqrt(2)) / 2 for own in z])
    below = np.asarray(p_value(edges, observations, tail="less"))
    return np.diff(below)
