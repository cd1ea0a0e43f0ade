"""How many independent observations a pair of time series is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._shared.options import Axis
from .._tables.arrays import table, variables_in_columns
from .observations import rows_of


def effective_observations(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    pairs: Any = None,
    axis: Axis = 0,
) -> Any:
    """The effective sample size of the correlation of time series, by lag-1 autocorrelations.

    Bartlett's formula: n (1 - a_i a_j) / (1 + a_i a_j) for rows i and j of n columns, with a row's
    lag-1 autocorrelation a_i. It is for stationary rows whose autocorrelation falls off like that
    of an AR(1) process; it is never more than n here.

    Parameters
    ----------
    x : array_like, shape (rows, cols)
        Rows are variables, columns follow each other in time, evenly spaced.
    y : array_like, optional
        Pairs of a row of x and a row of y.
    pairs : Edges, or (rows, columns), optional
        Which pairs. Default: the one that has the fewest.
    axis : {0, "rows", 1, "columns"}
        1 or "columns": the variables of the tables are their columns.

    Returns
    -------
    float or ndarray of float64
        Without `pairs` the least of all pairs, so that p is too small for none of them; for the
        option `effective_observations`. Else that of each pair. NaN of rows that are constant or
        hold a NaN; they do not count for the least.

    Raises
    ------
    ValueError
        For tables with other numbers of columns, or fewer than 3, or where no pair has any.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> x = np.sin(np.arange(40) / np.array([[1.0], [3.0]]))
    >>> round(gs.effective_observations(x), 1)
    13.7
    """
    reading: dict[str, Any] = {"in_columns": variables_in_columns(axis), "any_layout": True}
    first = table(x, "x", **reading)
    second = first if y is None else table(y, "y", **reading)
    cols = first.shape[1]
    if second.shape[1] != cols:
        raise ValueError(f"y: got {second.shape[1]} columns, expected {cols} as in x")
    if cols < 3:
        raise ValueError(f"x: got {cols} columns, expected at least 3")
    of_x = _lag_1(first)
    of_y = of_x if y is None else _lag_1(second)
    if pairs is not None:
        rows, others = rows_of(pairs)
        return _bartlett(of_x[rows] * of_y[others], cols)
    if y is None:
        ordered = np.sort(of_x[~np.isnan(of_x)])
        if len(ordered) < 2:
            raise ValueError(f"x: got {len(ordered)} rows that vary, expected at least 2")
        largest = max(ordered[0] * ordered[1], ordered[-1] * ordered[-2])
    else:
        ends = [(np.nanmin(a), np.nanmax(a)) for a in (of_x, of_y) if not np.isnan(a).all()]
        if len(ends) < 2:
            raise ValueError("x, y: got a table without a row that varies")
        largest = max(a * b for a in ends[0] for b in ends[1])
    return float(_bartlett(largest, cols))


def _lag_1(rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The lag-1 autocorrelation of each row; NaN where it does not vary."""
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        centred = row.astype(np.float64)
        varies = (centred != centred[0]).any()
        centred -= centred.mean()
        squares = np.dot(centred, centred) if varies else 0.0
        out[i] = np.dot(centred[1:], centred[:-1]) / squares if squares > 0 else np.nan
    return out


def _bartlett(product: Any, cols: int) -> Any:
    return np.minimum(cols, cols * (1 - product) / (1 + product))
