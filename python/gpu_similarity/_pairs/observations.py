"""How many observations two rows with missing values share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._shared.messages import two
from .._shared.options import Axis
from .._tables.arrays import integers, table, variables_in_columns
from .._tables.labels import Match, check_match, in_order, observations_of, order_of
from .._tables.numbers import Array
from .._tables.sparse import SparseRows

_VALUES_AT_ONCE = 1 << 25


def observations(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    pairs: Any = None,
    axis: Axis = 0,
    match: Match = "name",
) -> npt.NDArray[np.int64]:
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
    match : {"name", "position"}
        Whether the observations of y are those of x with the same label, where both have labels, or
        in order.

    Returns
    -------
    ndarray of int64
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
           [3, 4]])
    """
    in_columns = variables_in_columns(axis)
    reading: dict[str, Any] = {"in_columns": in_columns, "ordinal": True, "any_layout": True}
    has_x = _present(table(x, "x", **reading))
    has_y = has_x
    if y is not None:
        labels = observations_of(x, in_columns), observations_of(y, in_columns)
        order = order_of(*labels, "y", check_match(match))
        has_y = in_order(_present(table(y, "y", **reading)), order, "y")
    if has_x.shape[1] != has_y.shape[1]:
        raise ValueError(f"y: got {has_y.shape[1]} columns, expected {has_x.shape[1]} as in x")
    if pairs is None:
        # Sums of so many ones are exact in single precision up to 2^24 columns.
        wide = "float32" if has_x.shape[1] < 1 << 24 else "float64"
        ones: npt.NDArray[Any] = np.matmul(has_x.astype(wide), has_y.astype(wide).T)
        return ones.astype(np.int64)
    rows, cols = rows_of(pairs)
    if rows.ndim != 1 or rows.shape != cols.shape:
        raise ValueError(f"pairs: got shapes {rows.shape} and {cols.shape}, expected one length")
    for numbers, size in ((rows, len(has_x)), (cols, len(has_y))):
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < size):
            raise ValueError(
                f"pairs: got rows {numbers.min()} to {numbers.max()}, expected 0 to {size - 1}"
            )
    return _shared(has_x, has_y, rows, cols)


def rows_of(pairs: Any) -> tuple[Array, Array]:
    """The first and the second row of each pair."""
    given = (pairs.row, pairs.col) if hasattr(pairs, "row") else pairs
    row, col = two("pairs", given, "edges, or rows and columns")
    return integers(row, "pairs"), integers(col, "pairs")


def shared_of_tables(x: Any, y: Any, rows: Array, cols: Array) -> Array:
    """The observations of pairs of rows of tables that are read already, dense or sparse."""
    has_x = _present(x)
    return _shared(has_x, has_x if y is None else _present(y), rows, cols)


def _present(x: Array | SparseRows) -> Array:
    """Where a table holds no NaN."""
    if not isinstance(x, SparseRows):
        return np.asarray(~np.isnan(x))
    is_present = np.ones(x.shape, dtype=bool)
    place = np.flatnonzero(np.isnan(x.values))
    row = np.searchsorted(x.row_begin, place, side="right") - 1
    is_present[row, x.column[place]] = False
    return is_present


def _shared(has_x: Array, has_y: Array, rows: Array, cols: Array) -> Array:
    shared = np.empty(len(rows), dtype=np.int64)
    at_once = max(1, _VALUES_AT_ONCE // max(1, has_x.shape[1]))
    for begin in range(0, len(rows), at_once):
        some = slice(begin, begin + at_once)
        shared[some] = (has_x[rows[some]] & has_y[cols[some]]).sum(axis=1)
    return shared
