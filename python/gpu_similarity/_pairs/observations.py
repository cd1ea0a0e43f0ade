"""How many observations two rows with missing values share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._shared.options import Axis
from .._tables.arrays import table, variables_in_columns

_PAIRS_AT_ONCE = 1 << 16


def observations(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    pairs: Any = None,
    axis: Axis = 0,
) -> npt.NDArray[np.uint32]:
    """The columns that two rows share: in which neither holds a NaN.

    With nans="pairwise" they are the observations of a pair, from which its p follows.

    Parameters
    ----------
    x : array_like, shape (rows, cols)
        A table with missing values, NaN.
    y : array_like, optional
        Pairs of a row of x and a row of y.
    pairs : Edges, or (rows, columns), optional
        Which pairs; default: all.
    axis : {0, "rows", 1, "columns"}
        1 or "columns": the variables of the tables are their columns.

    Returns
    -------
    ndarray of uint32
        Of shape (rows, rows of y), or a value for each of `pairs`.

    Raises
    ------
    ValueError
        For tables with other numbers of columns.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.observations([[1, 2, 3, float("nan")], [4, 3, 2, 1]])
    array([[3, 3],
           [3, 4]], dtype=uint32)
    """
    in_columns = variables_in_columns(axis)
    reading: dict[str, Any] = {"in_columns": in_columns, "ordinal": True, "any_layout": True}
    has_x = ~np.isnan(table(x, "x", **reading))
    has_y = has_x if y is None else ~np.isnan(table(y, "y", **reading))
    if has_x.shape[1] != has_y.shape[1]:
        raise ValueError(f"y: got {has_y.shape[1]} columns, expected {has_x.shape[1]} as in x")
    if pairs is None:
        # Sums of so many ones are exact in single precision up to 2^24 columns.
        wide = "float32" if has_x.shape[1] < 1 << 24 else "float64"
        ones: npt.NDArray[Any] = np.matmul(has_x.astype(wide), has_y.astype(wide).T)
        return ones.astype(np.uint32)
    rows, cols = (pairs.row, pairs.col) if hasattr(pairs, "row") else pairs
    rows, cols = np.asarray(rows), np.asarray(cols)
    shared = np.empty(len(rows), dtype=np.uint32)
    for begin in range(0, len(rows), _PAIRS_AT_ONCE):
        some = slice(begin, begin + _PAIRS_AT_ONCE)
        shared[some] = (has_x[rows[some]] & has_y[cols[some]]).sum(axis=1)
    return shared
