"""Arrays on the way in: what the library reads in place, and what has to be copied first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _device

Array = npt.NDArray[Any]

# What the library reads in place, in the machine's byte order.
_DIRECT = frozenset(map(np.dtype, ("i1", "i2", "i4", "u1", "u2", "f4", "f8")))
_INT32 = np.iinfo(np.int32)
_EXACT_IN_DOUBLE = 2**53


def host_array(x: Any, argument: str, *, copy: bool | None = None, ordinal: bool = False) -> Array:
    """`x` as a NumPy array that the library reads in place.

    Parameters
    ----------
    x
        An array, a data frame, a sequence, or anything that NumPy or DLPack turns into one.
    argument
        Name in error messages.
    copy
        None copies where type or layout asks for it, False refuses to, True also brings a device
        array to the host.
    ordinal
        Only the order of the values matters, as for ranks: then 64-bit integers of any size are
        taken.
    """
    a: Array = x if type(x) is np.ndarray else _to_numpy(x, argument, copy)
    if a.dtype not in _DIRECT:
        try:
            a = _convert(a, argument, copy, ordinal)
        except (TypeError, ValueError):
            _check_columns(x, argument)
            raise
    if not (a.flags.c_contiguous and a.flags.aligned) and not _readable_rows(a):
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
    return flags.c_contiguous and flags.aligned


def table(x: Any, argument: str = "x", *, copy: bool | None = None, ordinal: bool = False) -> Array:
    """As host_array, and two-dimensional: rows are variables, columns are observations."""
    a = host_array(x, argument, copy=copy, ordinal=ordinal)
    if a.ndim != 2:
        raise ValueError(
            f"{argument}: got {a.ndim} dimensions, expected 2: rows are variables, columns are "
            "observations"
        )
    return a


def row_names(x: Any, argument: str, names: Any, rows: int) -> Array | None:
    """The names of the rows of `x`: `names`, else the index of a pandas data frame, else None."""
    if names is None:
        if type(x) is np.ndarray:
            return None
        index = getattr(x, "index", None)
        if index is None or callable(index) or not hasattr(x, "columns"):
            return None
        if type(index).__name__ == "RangeIndex":
            return None
        names = index
    out = np.asarray(names)
    if out.shape != (rows,):
        raise ValueError(f"{argument}: got shape {out.shape}, expected ({rows},), one a row")
    return out


def _to_numpy(x: Any, argument: str, copy: bool | None) -> Array:
    if _device.is_device_array(x):
        if copy is not True:
            raise TypeError(
                f"{argument}: got an array in the memory of a GPU ({type(x).__module__}."
                f"{type(x).__qualname__}), expected one on the host; copy=True copies it there"
            )
        return _device.to_host(x)
    if _is_frame(x):
        a = np.asarray(x.to_numpy())
    elif hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray):
        try:
            a = np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):
            a = np.asarray(x)  # read-only producers refuse DLPack, autograd refuses both
    else:
        if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
            raise ValueError(f"{argument}: masked values are not taken; fill or drop them")
        a = np.asarray(x)
        if copy is False and not isinstance(x, np.ndarray):
            raise ValueError(
                f"{argument}: got {type(x).__qualname__}, which cannot be read in place, and "
                "copy=False forbids a copy"
            )
    if a.dtype == object:
        if copy is False or not _is_frame(x):
            raise TypeError(f"{argument}: got values of mixed or unknown type, expected numbers")
        a = np.column_stack(_check_columns(x, argument))
    return a


def _is_frame(x: Any) -> bool:
    return hasattr(x, "to_numpy") and hasattr(x, "columns")


def _check_columns(x: Any, argument: str) -> list[Array]:
    """The columns of a data frame; an error names the first that is not taken, and its dtype."""
    columns = []
    for position, name in enumerate(x.columns if _is_frame(x) else ()):
        # By position: names may repeat.
        column = x.iloc[:, position] if hasattr(x, "iloc") else x[:, position]
        where = f"{argument}: column {name!r} of dtype {column.dtype}"
        values = np.asarray(column.to_numpy())
        if values.dtype == object:
            raise TypeError(f"{where}: got values of mixed or unknown type, expected numbers")
        columns.append(values if values.dtype in _DIRECT else _convert(values, where, None, False))
    return columns


def _convert(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
    """`a` in a type that the library takes, with every value (or the order of them) kept."""
    if a.dtype == np.bool_:
        return a.view(np.uint8)
    if copy is False:
        raise ValueError(
            f"{argument}: elements of type {a.dtype} are not read in place, and copy=False forbids "
            "a copy; int8, int16, int32, uint8, uint16, float32 and float64 are"
        )
    native = a.astype(a.dtype.newbyteorder("="), copy=False)
    if native.dtype in _DIRECT:
        return native
    if native.dtype == np.float16:
        return native.astype(np.float32)
    if native.dtype.kind in "iu":
        return _convert_integers(native, argument, ordinal)
    if native.dtype.kind == "f" and ordinal:
        return _codes(native) if not np.isnan(native).any() else native.astype(np.float64)
    if native.dtype.kind == "f":
        return native.astype(np.float64)
    if native.dtype.kind == "c":
        raise TypeError(f"{argument}: complex numbers are not taken")
    raise TypeError(f"{argument}: elements of type {a.dtype} are not numbers")


def _convert_integers(a: Array, argument: str, ordinal: bool) -> Array:
    low, high = (int(a.min()), int(a.max())) if a.size else (0, 0)
    if _INT32.min <= low and high <= _INT32.max:
        return a.astype(np.int32)
    if low >= -_EXACT_IN_DOUBLE and high <= _EXACT_IN_DOUBLE:
        return a.astype(np.float64)
    if ordinal:
        return _codes(a)
    raise ValueError(
        f"{argument}: integers from {low} to {high} are exact in no type that the library takes; "
        "convert them to float64 yourself if rounding is acceptable"
    )


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
