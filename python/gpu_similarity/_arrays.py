"""Arrays on the way in: what the library reads in place, and what has to be copied first."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _device
from ._frames import (
    check_columns,
    is_frame,
    is_sparse,
    numbers_of,
    variables_of_frame,
    variables_of_sparse,
    without_names,
)

Array = npt.NDArray[Any]

# What the library reads in place, in the machine's byte order.
_DIRECT = frozenset(map(np.dtype, ("i1", "i2", "i4", "u1", "u2", "f4", "f8")))
# What ranks and all pairs read in place besides.
_WIDE = frozenset(map(np.dtype, ("i8", "u4", "u8")))
_INT32 = np.iinfo(np.int32)
_EXACT_IN_DOUBLE = 2**53
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
    if a.dtype not in _DIRECT and not (any_layout and a.dtype in _WIDE):
        try:
            a = _convert(a, argument, copy, ordinal)
        except (TypeError, ValueError):
            if is_frame(x):
                check_columns(x, argument)
            raise
    elif a.dtype in _WIDE and not ordinal and is_frame(x) and not _is_exact(a):
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
    if type(x) is not np.ndarray or x.ndim != 2 or x.dtype not in _DIRECT:
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


def in_direct_type(a: Array, argument: str) -> Array:
    """`a` in a type that the library takes; every value stays what it is."""
    return a if a.dtype in _DIRECT else _convert(a, argument, None, False)


def in_table_type(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
    """`a` in a type that the library reads tables in, 64-bit integers among them, in one piece."""
    if a.dtype not in _DIRECT and a.dtype not in _WIDE:
        a = _convert(a, argument, copy, ordinal)
    return np.ascontiguousarray(a)


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


def _convert(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
    """`a` in a type that the library takes, with every value (or the order of them) kept."""
    if a.dtype == np.bool_:
        return a.view(np.uint8)
    if copy is False:
        raise ValueError(
            f"{argument}: elements of type {a.dtype} are not read in place, and copy=False forbids "
            "a copy; int8, int16, int32, uint8, uint16, float32 and float64 are"
        )
    if a.dtype == object:
        a = numbers_of(a.ravel(), argument).reshape(a.shape)
    native = a.astype(a.dtype.newbyteorder("="), copy=False)
    if native.dtype in _DIRECT:
        return native
    # In the order that the library reads, so that no second copy follows.
    if native.dtype == np.float16:
        return native.astype(np.float32, order="C")
    if native.dtype.kind in "iu":
        return _convert_integers(native, argument, ordinal)
    if native.dtype.kind == "f" and ordinal:
        return _codes(native) if not np.isnan(native).any() else native.astype(np.float64)
    if native.dtype.kind == "f":
        return native.astype(np.float64, order="C")
    if native.dtype.kind == "c":
        raise TypeError(f"{argument}: complex numbers are not taken")
    raise TypeError(f"{argument}: elements of type {a.dtype} are not numbers")


def _convert_integers(a: Array, argument: str, ordinal: bool) -> Array:
    low, high = (int(a.min()), int(a.max())) if a.size else (0, 0)
    if _INT32.min <= low and high <= _INT32.max:
        return a.astype(np.int32, order="C")
    if low >= -_EXACT_IN_DOUBLE and high <= _EXACT_IN_DOUBLE:
        return a.astype(np.float64, order="C")
    if ordinal:
        return _codes(a)
    raise ValueError(
        f"{argument}: integers from {low} to {high} are exact in no type that the library takes; "
        "convert them to float64 yourself if rounding is acceptable"
    )


def _is_exact(a: Array) -> bool:
    """Whether float64 holds these integers."""
    if a.size == 0:
        return True
    return bool(a.min() >= -_EXACT_IN_DOUBLE and a.max() <= _EXACT_IN_DOUBLE)


def _codes(a: Array) -> Array:
    """The position of each value among the distinct values: the same order, ties and all."""
    codes = np.unique(a, return_inverse=True)[1].reshape(a.shape)
    return codes.astype(np.int32 if codes.size <= _INT32.max else np.float64)


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
