"""Student's t test of a correlation, and its confidence interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.messages import integer, real
from .._shared.options import Adjustment, Measure, Tail, adjustment_of, measure_of
from .._tables.arrays import doubles, observation_counts


def p_value(
    r: npt.ArrayLike,
    observations: npt.ArrayLike,
    *,
    tail: Tail = "two-sided",
    cpu_threads: int = 0,
) -> Any:
    """p of a correlation by Student's t, as scipy.stats.pearsonr and spearmanr.

    It is 0 for abs(r) = 1. p of edges of Spearman is never below what permutations allow, and
    counts these up to 9 observations.

    Parameters
    ----------
    r : float or array_like of float
        Correlations in [-1, 1]; NaN gives NaN.
    observations : float or array_like of float
        At least 3, whole or not; the t distribution has observations - 2 degrees of freedom. An
        array has the shape of `r`, or can be broadcast to it; see `observations`.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    cpu_threads : int
        Most threads of an array; 0: all.

    Returns
    -------
    float or ndarray
        p, of the shape of `r`.

    Raises
    ------
    ValueError
        Outside these ranges.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> round(gs.p_value(0.5, 30), 6)
    0.0049
    """
    return p_of_test(r, observations, tail, of_ranks=False, cpu_threads=cpu_threads)


def p_of_test(
    r: npt.ArrayLike,
    observations: npt.ArrayLike,
    tail: Tail,
    *,
    of_ranks: bool,
    cpu_threads: int = 0,
) -> Any:
    """p_value, or, of ranks, the same that is never below what permutations allow."""
    values = doubles(r, "r")
    counts = observation_counts(observations, "observations")
    threads = integer("cpu_threads", cpu_threads)
    if threads < 0:
        raise ValueError(f"cpu_threads: got {threads}, expected 0 or more")
    if counts.ndim > 0:
        return _p_by_observations(values, counts, tail, of_ranks, threads)
    count = real("observations", counts[()])
    p = _core.p_values(values.reshape(-1), count, str(tail), of_ranks, threads)
    p = p.reshape(values.shape)
    return float(p) if p.ndim == 0 else p


def _p_by_observations(
    values: npt.NDArray[np.float64], counts: Any, tail: Tail, of_ranks: bool, threads: int
) -> Any:
    counts = _for_each(counts, values.shape)
    p = np.full(values.shape, np.nan)
    has = ~np.isnan(values)
    for count in np.unique(counts[has]):
        own = has & (counts == count)
        count = real("observations", count)
        p[own] = _core.p_values(values[own], count, str(tail), of_ranks, threads)
    return p


def _for_each(counts: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    try:
        return np.broadcast_to(counts, shape)
    except ValueError:
        raise ValueError(
            f"observations: got shape {counts.shape}, expected {shape} or one that broadcasts to it"
        ) from None


def critical_correlation(p: float, observations: float, *, tail: Tail = "two-sided") -> float:
    """The smallest correlation whose p is at most `p`; of "less" the largest, negative one.

    Parameters
    ----------
    p : float
        In (0, 1].
    observations : float
        At least 3, whole or not.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.

    Returns
    -------
    float
        Infinite where no correlation reaches `p`.

    Raises
    ------
    ValueError
        Outside these ranges.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> round(gs.critical_correlation(0.05, 30), 6)
    0.361007
    """
    count = real("observations", observations)
    return _core.critical_correlation(real("p", p), count, str(tail))


def confidence_interval(
    statistic: npt.ArrayLike,
    observations: npt.ArrayLike,
    *,
    measure: Measure = "pearson",
    confidence: float = 0.95,
    tail: Tail = "two-sided",
) -> tuple[Any, Any]:
    """The confidence interval of a statistic, by Fisher's z.

    Of Pearson's r as scipy.stats.pearsonr, with the standard error 1 / sqrt(n - 3); of Spearman's
    rho as Bonett and Wright (2000), sqrt((1 + rho^2 / 2) / (n - 3)); of the biweight
    midcorrelation as of r, which is an approximation.

    Parameters
    ----------
    statistic : float or array_like of float
        In [-1, 1]; NaN gives NaN.
    observations : float or array_like of float
        At least 3, whole or not; of three the interval is [-1, 1]. An array has the shape of
        `statistic`, or can be broadcast to it; see `observations`.
    measure : str
        What `statistic` is of.
    confidence : float
        The probability that the interval covers, in (0, 1).
    tail : {"two-sided", "greater", "less"}
        Of "greater" the upper bound is 1, of "less" the lower one -1.

    Returns
    -------
    lower, upper : float or ndarray
        Of the shape of `statistic`.

    Raises
    ------
    ValueError
        Outside these ranges.
    Unsupported
        Where the measure has no interval, as cosine.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> [round(bound, 6) for bound in gs.confidence_interval(0.5, 30)]
    [0.170431, 0.728959]
    """
    measure = measure_of(measure)
    values = doubles(statistic, "statistic")
    counts = observation_counts(observations, "observations")
    level = real("confidence", confidence)
    asked = (str(measure), level, str(tail))
    if counts.ndim == 0:
        bounds = _bounds(values.reshape(-1), real("observations", counts[()]), *asked)
    else:
        own = _for_each(counts, values.shape).reshape(-1)
        flat = values.reshape(-1)
        bounds = np.full((2, values.size), np.nan)
        has = ~np.isnan(flat)
        for count in np.unique(own[has]):
            of_count = has & (own == count)
            count = real("observations", count)
            bounds[:, of_count] = _bounds(flat[of_count], count, *asked)
    lower, upper = bounds.reshape(2, *values.shape)
    return (float(lower), float(upper)) if values.ndim == 0 else (lower, upper)


def _bounds(
    values: npt.NDArray[np.float64], observations: float, measure: str, confidence: float, tail: str
) -> npt.NDArray[np.float64]:
    bounds = _core.confidence_intervals(values, measure, observations, confidence, tail)
    return np.asarray(bounds)


def adjusted_p_values(
    p: npt.ArrayLike, family: int, *, adjust: Adjustment = "benjamini-hochberg"
) -> npt.NDArray[np.float64]:
    """Adjusted p, or q, of the tests of a family, of which `p` may be the smallest ones alone.

    Parameters
    ----------
    p : array_like of float
        In [0, 1], or NaN. Those of the family that are not given count as larger than all given.
    family : int
        How many tests there are in all, as `edges.summary.pairs_tested`.
    adjust : {"bonferroni", "benjamini-hochberg", "bh", "none"}
        min(1, p family), or the least p_j family / j of the p from that place on, in ascending
        order.

    Returns
    -------
    ndarray of float64
        Of the shape of `p`.

    Raises
    ------
    ValueError
        Where p is outside [0, 1], or the family is smaller than `p`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.adjusted_p_values([0.01, 0.02, 0.03], 10).round(6).tolist()
    [0.1, 0.1, 0.1]
    """
    values = doubles(p, "p")
    q = _core.adjusted_p_values(
        values.reshape(-1), integer("family", family), str(adjustment_of(adjust))
    )
    return np.asarray(q.reshape(values.shape))
