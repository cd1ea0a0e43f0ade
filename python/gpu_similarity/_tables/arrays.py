"""The door: every array that a caller gives comes in here, and is read as it stands or refused."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np

from . import device_memory as _device
from .frames import (
    check_columns,
    is_frame,
    is_sparse,
    values_of_column,
    variables_of_frame,
    variables_of_sparse,
    without_names,
)
from .numbers import (
    DIRECT,
    OF_ANOTHER_PACKAGE,
    WIDE,
    Array,
    convert,
    in_numpys_type,
    is_exact,
    numbers_of,
)

_IN_ROWS = (None, 0, "rows")
_IN_COLUMNS = (1, "columns")
_EXACT_IN_DOUBLE = 2.0**53


def plain_array(
    x: Any,
    argument: str,
    *,
    copy: bool | None = None,
    in_columns: bool = False,
    ordinal: bool = False,
) -> Array:
    """`x` as an array of NumPy that says what `x` says, in whatever type and layout.

    Masks are refused, sparse matrices are written out, frames and columns have NaN where a value is
    missing. Where NumPy would round an integer the array is one of objects.

    Parameters
    ----------
    x
        An array, a data frame or a column of one, a sparse matrix, a sequence, or anything that
        NumPy or DLPack turns into an array.
    argument
        Name in error messages.
    copy
        None copies where it has to, False refuses to, True also brings a device array to the host.
    in_columns
        `x` has its variables in columns; the answer has them in rows.
    ordinal
        Decimals and fractions of frames are not rounded either.
    """
    if type(x) is np.ndarray and x.dtype.isbuiltin != OF_ANOTHER_PACKAGE:
        return x.T if in_columns else x
    x = without_names(x)
    if is_frame(x):
        return variables_of_frame(x, argument, in_columns=in_columns, ordinal=ordinal)
    if is_sparse(x):
        if copy is False:
            raise ValueError(f"{argument}: got a sparse matrix, and copy=False forbids a copy")
        return variables_of_sparse(x, argument, in_columns=in_columns)
    if _device.is_device_array(x):
        if copy is not True:
            raise TypeError(
                f"{argument}: got an array in the memory of a GPU ({type(x).__module__}."
                f"{type(x).__qualname__}), expected one on the host; copy=True copies it there"
            )
        a = _device.to_host(x)
    else:
        a = _from_others(x, argument, copy, ordinal)
    a = a.T if in_columns else a
    return a if copy is False else in_numpys_type(a)


def number_array(x: Any, argument: str) -> Array:
    """`plain_array`, with the numbers of objects as numbers of NumPy."""
    a = plain_array(x, argument)
    return a if a.dtype != object else numbers_of(a.ravel(), argument).reshape(a.shape)


def doubles(x: Any, argument: str, *, ordinal: bool = False) -> Array:
    """`x` as doubles in C order, of any shape; with `ordinal` in the order that `x` is in."""
    a = plain_array(x, argument, ordinal=ordinal)
    if a.dtype not in DIRECT:
        a = convert(a, argument, None, ordinal)
    return np.asarray(a, dtype=np.float64, order="C")


def integers(x: Any, argument: str) -> Array:
    """`x` as integers, of any shape and type of integers; bool is refused."""
    return _of_kinds(x, argument, "iu", "integers")


def observation_counts(x: Any, argument: str) -> Array:
    """`x` as numbers of observations, whole or not, of any shape; bool is refused."""
    return _of_kinds(x, argument, "iuf", "numbers")


def _of_kinds(x: Any, argument: str, kinds: str, expected: str) -> Array:
    a = number_array(x, argument)
    if a.size == 0:
        return np.empty(a.shape, np.int64)
    if a.dtype.kind not in kinds:
        got = f"elements of type {a.dtype}" if a.ndim else repr(a[()].item())
        raise TypeError(f"{argument}: got {got}, expected {expected}")
    return a


def refuse_mask(x: Any, argument: str) -> None:
    """Raises ValueError for a masked array that hides a value, in sequences too."""
    if isinstance(x, list | tuple):
        for item in x:
            if not isinstance(item, int | float):
                refuse_mask(item, argument)
    elif isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise ValueError(
            f"{argument}: masked values are not taken; fill them with NaN or drop them"
        )


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
    x, argument, copy, in_columns
        As of `plain_array`; copy=False also refuses a change of type or layout.
    ordinal
        Only the order of the values matters, as for ranks: then 64-bit integers of any size are
        taken, and numbers that no double holds.
    any_layout
        The operation reads tables in C order and in Fortran order, and 64-bit integers.
    """
    a = plain_array(x, argument, copy=copy, in_columns=in_columns, ordinal=ordinal)
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


def covariates_of(given: Any, in_columns: bool, ordinal: bool = False) -> Array:
    """Covariates as a matrix of doubles with one in each row; one alone may be a vector."""
    a = doubles(given, "covariates", ordinal=ordinal)
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
    a = doubles(given, "weights")
    if a.ndim != 1 or not len(a):
        raise ValueError(f"weights: got shape {a.shape}, expected a number for each observation")
    return a


def names_of(given: Any, labels: Any, argument: str, variables: int) -> Array | None:
    """The names of the variables: `given`, else the labels that their frame has, else None."""
    names = labels if given is None else given
    if names is None:
        return None
    refuse_mask(names, argument)
    out = np.asarray(names)
    if out.dtype.kind == "M":  # dates without a time of day: 2020-05-05
        days = out.astype("datetime64[D]")
        out = days if (days == out).all() else out
    if out.shape != (variables,):
        raise ValueError(
            f"{argument}: got shape {out.shape}, expected ({variables},), one a variable"
        )
    return out


def _from_others(x: Any, argument: str, copy: bool | None, ordinal: bool) -> Array:
    refuse_mask(x, argument)
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    by_dlpack = hasattr(x, "__dlpack__")
    if by_dlpack:
        # Read-only producers refuse it, autograd refuses, and so do columns that lack values.
        with contextlib.suppress(BufferError, RuntimeError, TypeError):
            return np.from_dlpack(x)
    found = values_of_column(x, argument, ordinal)
    if found is None:
        _check_is_table(x, argument)
        found = _from_sequence(x, argument)
    if copy is False and not by_dlpack:
        raise ValueError(
            f"{argument}: got {type(x).__qualname__}, which cannot be read in place, and "
            "copy=False forbids a copy"
        )
    return found


def _from_sequence(x: Any, argument: str) -> Array:
    try:
        a = np.asarray(x)
    except ValueError as error:  # as of rows of several lengths
        raise ValueError(f"{argument}: {error}") from None
    # Of integers and other numbers together NumPy makes doubles, whatever the integers are.
    large = np.abs(a) >= _EXACT_IN_DOUBLE if a.dtype == np.float64 else np.zeros(1, bool)
    if large.any():
        numbers = np.asarray(x, dtype=object)
        if any(isinstance(number, int | np.integer) for number in numbers[large]):
            return numbers
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
            f"{argument}: got {x!r}, expected numbers; gs.read_table reads a file into a table"
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
