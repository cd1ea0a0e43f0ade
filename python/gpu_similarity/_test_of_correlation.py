"""Student's t test of a correlation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._messages import integer, real
from ._options import Tail


def p_value(r: npt.ArrayLike, observations: int, *, tail: Tail = "two-sided") -> Any:
    """p of a correlation, as scipy.stats.pearsonr and spearmanr.

    Parameters
    ----------
    r : float or array_like of float
        Correlations in [-1, 1]; NaN gives NaN.
    observations : int
        At least 3; the t distribution has observations - 2 degrees of freedom.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.

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
    values = np.asarray(r, dtype=np.float64, order="C")
    p = _core.p_values(values.reshape(-1), integer("observations", observations), str(tail))
    p = p.reshape(values.shape)
    return float(p) if p.ndim == 0 else p


def critical_correlation(p: float, observations: int, *, tail: Tail = "two-sided") -> float:
    """The smallest correlation whose p is at most `p`; of "less" the largest, negative one.

    Parameters
    ----------
    p : float
        In (0, 1].
    observations : int
        At least 3.
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
    count = integer("observations", observations)
    return _core.critical_correlation(real("p", p), count, str(tail))
