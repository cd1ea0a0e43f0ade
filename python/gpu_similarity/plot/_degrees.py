"""Degrees, and the power law that their tail may follow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._results.results import Counts
from .._tables.arrays import doubles
from ._axes import axes_of

_EXPONENTS = np.arange(1.02, 6.0, 0.01)
# A tail of fewer rows fits anything; from this many values on a share of them is tried.
_LEAST_ROWS = 50
_TRIED = 60
_LEAST_P = 0.1
_TABLE = 100_000


class PowerLaw(NamedTuple):
    """A power law fitted to the tail of whole numbers.

    Attributes
    ----------
    exponent : float
        Of greatest likelihood: the share of a value k is proportional to k ** -exponent.
    from_degree : int
        Where the tail begins: where the distance of Kolmogorov and Smirnov is least.
    rows : int
        How many values the tail has.
    distance : float
        That distance.
    p : float
        Share of samples of the fitted law, each fitted anew, that lie farther from their fit. A
        small one says that the tail is no power law.
    """

    exponent: float
    from_degree: int
    rows: int
    distance: float
    p: float


def fit_tail(degrees: npt.ArrayLike, *, samples: int = 100, seed: int = 0) -> PowerLaw | None:
    """Fits a discrete power law to the tail of degrees, by maximum likelihood. Needs SciPy.

    Where the tail begins is chosen by the least distance of Kolmogorov and Smirnov, and whether it
    is a power law at all is tested by samples of the fit (Clauset, Shalizi and Newman 2009).

    Parameters
    ----------
    degrees : array_like of int
        Zeros are left out.
    samples : int
        At least 1; the more, the finer is p. Time grows with them: some seconds for 100.
    seed : int
        Of the samples.

    Returns
    -------
    PowerLaw or None
        None where no tail has 50 values, two of them different.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> fit = gs.plot.fit_tail(np.random.default_rng(0).zipf(2.5, 2000))
    >>> abs(fit.exponent - 2.5) < 0.15, fit.p > 0.1
    (True, True)
    """
    values = doubles(degrees, "degrees").astype(np.int64).ravel()
    values = values[values > 0]
    fitted = _fit(values)
    if fitted is None:
        return None
    exponent, first, rows, distance = fitted
    rng = np.random.default_rng(seed)
    farther = 0
    for _ in range(samples):
        other = _fit(_sample(rng, values, exponent, first))
        farther += other is not None and other[3] >= distance
    return PowerLaw(exponent, first, rows, distance, farther / samples)


def _fit(values: npt.NDArray[np.int64]) -> tuple[float, int, int, float] | None:
    """Exponent, beginning, size and distance of the tail that lies closest to its power law."""
    from scipy.special import zeta

    distinct, times = np.unique(values, return_counts=True)
    behind = np.cumsum(times[::-1])[::-1]
    logs = np.cumsum((times * np.log(distinct))[::-1])[::-1]
    tried = np.flatnonzero((behind >= _LEAST_ROWS) & (np.arange(len(distinct)) < len(distinct) - 1))
    if len(tried) > _TRIED:
        tried = tried[np.unique(np.linspace(0, len(tried) - 1, _TRIED).astype(np.int64))]
    best = None
    for i in tried:
        first, rows = int(distinct[i]), int(behind[i])
        likelihood = -rows * np.log(zeta(_EXPONENTS, first)) - _EXPONENTS * logs[i]
        exponent = float(_EXPONENTS[np.argmax(likelihood)])
        model = zeta(exponent, distinct[i:]) / zeta(exponent, first)
        # Both are steps: their distance is greatest at a value, or just before the next.
        after = zeta(exponent, distinct[i:] + 1) / zeta(exponent, first)
        there = behind[i:] / rows
        gap = max(np.abs(model - there).max(), np.abs(after[:-1] - there[1:]).max(), after[-1])
        if best is None or gap < best[3]:
            best = (exponent, first, rows, float(gap))
    return best


def _sample(
    rng: np.random.Generator, values: npt.NDArray[np.int64], exponent: float, first: int
) -> npt.NDArray[np.int64]:
    """As many values: below the tail drawn from what is there, in the tail from its power law."""
    from scipy.special import zeta

    below = values[values < first]
    in_tail = int(rng.binomial(len(values), 1 - len(below) / len(values)))
    share = 1 - rng.random(in_tail)
    at_least = zeta(exponent, np.arange(first, first + _TABLE)) / zeta(exponent, first)
    drawn = first + np.searchsorted(-at_least, -share, side="right") - 1
    far = share < at_least[-1]
    # Behind the table the sum is an integral.
    end = first + _TABLE - 1
    reached = end * (at_least[-1] / share[far]) ** (1 / (exponent - 1))
    drawn[far] = np.minimum(reached, 2.0**62).astype(np.int64)
    if not len(below):
        return drawn
    return np.concatenate([rng.choice(below, len(values) - in_tail), drawn])


def degrees(counts: Counts, *, ax: Any = None, fit: bool = True) -> Any:
    """Share of rows that have at least so many kept pairs, log-log.

    Parameters
    ----------
    counts : Counts
        Of a filter that keeps the pairs of interest.
    ax : matplotlib axes, optional
        Where to draw.
    fit : bool
        Draws the power law that `fit_tail` finds, where its p is at least 0.1; else the legend says
        that there is none. Nothing without SciPy.

    Returns
    -------
    matplotlib axes
        Rows of that degree or a larger one, against degree.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> gs.plot.degrees(gs.counts(x, max_p=0.05)).get_xlabel()
    'degree'
    """
    axes = axes_of(ax, (4.8, 3.6))
    degree, rows = np.unique(counts.degree[counts.degree > 0], return_counts=True)
    behind = np.cumsum(rows[::-1])[::-1]
    axes.loglog(degree, behind, ".", color="tab:blue", label=f"{int(rows.sum()):,} rows")
    axes.set_xlabel("degree")
    axes.set_ylabel("rows of at least this degree")
    if fit:
        _draw_tail(axes, counts.degree, dict(zip(degree.tolist(), behind.tolist(), strict=True)))
    if len(degree):
        axes.legend(frameon=False, fontsize="small")
    return axes


def _draw_tail(axes: Any, degree: npt.NDArray[Any], behind: dict[int, int]) -> None:
    try:
        from scipy.special import zeta
    except ImportError:
        return
    law = fit_tail(degree)
    if law is None or law.p < _LEAST_P:
        why = "tail too short to fit" if law is None else f"no power law ({_p(law.p)})"
        axes.plot([], [], " ", label=why)
        return
    at = np.unique(np.geomspace(law.from_degree, max(behind), 60).astype(np.int64))
    there = behind[law.from_degree]
    model = there * zeta(law.exponent, at) / zeta(law.exponent, law.from_degree)
    label = f"power law from degree {law.from_degree:,}: exponent {law.exponent:.2f}, {_p(law.p)}"
    axes.plot(at, model, color="black", lw=1, label=label)


def _p(p: float) -> str:
    return f"p = {p:.2f}" if p > 0 else "p < 0.01"
