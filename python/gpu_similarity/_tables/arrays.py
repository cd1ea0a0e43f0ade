"""Arrays on the way in: what the library reads in place, and what has to be copied first."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import device_memory as _device
from .frames import (
    check_columns,
    is_frame,
    is_sparse,
    variables_of_frame,
    variables_of_sparse,
    without_names,
)
from .numbers import DIRECT, WIDE, Array, convert, is_exact

_IN_ROWS = (None, 0, "rows")
_IN_COLUMNS = (1, "columns")


def host_array(
    x: Any,
    argument: str,
    *,
    copy: bool | None = None,
    ordinal: bool = False,
    in_columns: bool = False,
    any_layout: bool = False,
) -> Array:
    """`x` as a NumPy array that the library reads in place.

    Parameters
    ----------
    x
        An array, a data frame, a sparse matrix, a sequence, or anything that NumPy or DLPack turns
        into one.
    argument
        Name in error messages.
    copy
        None copies where type or layout asks for it, False refuses to, True also brings a device
        array to the host.
    ordinal
        Only the order of the values matters, as for ranks: then 64-bit integers of any size are
        taken.
    in_columns
        `x` has its variables in columns; the answer has them in rows.
    any_layout
        The operation reads tables in C order and in Fortran order, and 64-bit integers.
    """
    a: Array = x if type(x) is np.ndarray else _to_numpy(x, argument, copy, in_columns)
    if in_columns and type(x) is np.ndarray:
        a = a.T
    if a.dtype not in DIRECT and not (any_layout and a.dtype in WIDE):
        try:
            a = convert(a, argument, copy, ordinal)
        except (TypeError, ValueError):
            if is_frame(x):
                check_columns(x, argument)
            raise
    elif a.dtype in WIDE and not ordinal and is_frame(x) and not is_exact(a):
        check_columns(x, argument)
    in_place = (a.flags.c_contiguous and a.flags.aligned) or _readable_rows(a)
    if not in_place and not (any_layout and _readable_rows(a.T)):
        if copy is False:
            raise ValueError(
                f"{argument}: its elements do not follow each other along the last axis "
                f"(strides {a.strides}), and copy=False forbids a copy"
            )
        a = np.array(a, order="C")  # ascontiguousarray would leave it unaligned
    return a


def is_plain_table(x: Any) -> bool:
    """Whether `x` is a matrix of NumPy that the library reads in place, by its flags alone."""
    if type(x) is not np.ndarray or x.ndim != 2 or x.dtype not in DIRECT:
        return False
    flags = x.flags
    return (flags.c_contiguous or flags.f_contiguous) and flags.aligned


def variables_in_columns(axis: Any) -> bool:
    """Whether `axis` says that each column is a variable."""
    if axis in _IN_ROWS or axis in _IN_COLUMNS:
        return axis in _IN_COLUMNS
    raise ValueError(
        f"axis: got {axis!r}, expected 0 or 'rows' (each row is a variable), or 1 or 'columns' "
        "(each column is one)"
    )


def table(
    x: Any,
    argument: str = "x",
    *,
    copy: bool | None = None,
    ordinal: bool = False,
    in_columns: bool = False,
    any_layout: bool = False,
) -> Array:
    """As host_array, and two-dimensional: rows are variables, columns are observations."""
    a = host_array(
        x, argument, copy=copy, ordinal=ordinal, in_columns=in_columns, any_layout=any_layout
    )
    if a.ndim != 2:
        raise ValueError(
            f"{argument}: got {a.ndim} dimensions, expected 2: variables by observations, as axis "
            "says"
        )
    return a


def covariates_of(given: Any, in_columns: bool) -> Array:
    """Covariates as a matrix of doubles with one in each row; one alone may be a vector."""
    a = np.asarray(given, dtype=np.float64)
    if a.ndim == 1:
        a = a.reshape(1, -1)
    elif a.ndim != 2:
        raise ValueError(f"covariates: got {a.ndim} dimensions, expected 1 or 2")
    elif in_columns:
        a = a.T
    if not len(a):
        raise ValueError("covariates: got none, expected at least 1; None is no covariates")
    return np.ascontiguousarray(a)


def weights_of(given: Any) -> Array:
    """Weights of the observations as a vector of doubles."""
    a = np.ascontiguousarray(np.asarray(given, dtype=np.float64))
    if a.ndim != 1 or not len(a):
        raise ValueError(f"weights: got shape {a.shape}, expected a number for each observation")
    return a


def names_of(given: Any, labels: Any, argument: str, variables: int) -> Array | None:
    """The names of the variables: `given`, else the labels that their frame has, else None."""
    names = labels if given is None else given
    if names is None:
        return None
    out = np.asarray(names)
    if out.shape != (variables,):
        raise ValueError(
            f"{argument}: got shape {out.shape}, expected ({variables},), one a variable"
        )
    return out


def values_of(x: Any, argument: str) -> Array:
    """`x` as NumPy has it, frames and sparse matrices too, in whatever type and layout."""
    x = without_names(x)
    if is_frame(x):
        return variables_of_frame(x, argument, in_columns=False)
    if is_sparse(x):
        return variables_of_sparse(x, argument, in_columns=False)
    _check_is_table(x, argument)
    return np.asarray(x)


def _to_numpy(x: Any, argument: str, copy: bool | None, in_columns: bool) -> Array:
    """`x` as an array with its variables in rows."""
    x = without_names(x)
    if _device.is_device_array(x):
        if copy is not True:
            raise TypeError(
                f"{argument}: got an array in the memory of a GPU ({type(x).__module__}."
                f"{type(x).__qualname__}), expected one on the host; copy=True copies it there"
            )
        a = _device.to_host(x)
    elif is_frame(x):
        return variables_of_frame(x, argument, in_columns=in_columns)
    elif is_sparse(x):
        if copy is False:
            raise ValueError(f"{argument}: got a sparse matrix, and copy=False forbids a copy")
        return variables_of_sparse(x, argument, in_columns=in_columns)
    else:
        a = _from_others(x, argument, copy)
    return a.T if in_columns else a


def _from_others(x: Any, argument: str, copy: bool | None) -> Array:
    if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):
            return np.asarray(x)  # read-only producers refuse DLPack, autograd refuses both
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise ValueError(
            f"{argument}: masked values are not taken; fill them with NaN or drop them"
        )
    _check_is_table(x, argument)
    a = np.asarray(x)
    if copy is False and not isinstance(x, np.ndarray):
        raise ValueError(
            f"{argument}: got {type(x).__qualname__}, which cannot be read in place, and "
            "copy=False forbids a copy"
        )
    return a


def _check_is_table(x: Any, argument: str) -> None:
    """Refuses what holds a table, or leads to one, with the way to it."""
    if type(x).__name__ == "AnnData" and hasattr(x, "layers"):
        raise TypeError(
            f"{argument}: got an AnnData object, expected a table; gs.anndata.correlate takes it, "
            "and every function its .X with axis='columns'"
        )
    if isinstance(x, str | bytes | os.PathLike):
        raise TypeError(
            f"{argument}: got {x!r}, expected a table; gs.read_table reads a file into one"
        )
    if type(x).__name__ == "LazyFrame":
        raise TypeError(f"{argument}: got a LazyFrame, expected a table; its collect() gives one")


def _readable_rows(a: Array) -> bool:
    """Whether rows are packed, aligned and one behind the other, at any distance."""
    if a.ndim != 2 or not a.flags.aligned:
        return False
    rows, cols = a.shape
    row_stride, stride = a.strides
    size = a.itemsize
    return (
        (cols <= 1 or stride == size)
        and (rows <= 1 or (row_stride >= cols * size and row_stride % size == 0))
        and rows > 0
        and cols > 0
    )
