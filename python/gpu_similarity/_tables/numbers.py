"""The types that the library takes, and values of other types in them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
NOT_NUMBERS = "its values are not numbers"

# What the library reads in place, in the machine's byte order.
DIRECT = frozenset(map(np.dtype, ("i1", "i2", "i4", "u1", "u2", "f4", "f8")))
# What ranks and all pairs read in place besides.
WIDE = frozenset(map(np.dtype, ("i8", "u4", "u8")))
_INT32 = np.iinfo(np.int32)
_EXACT_IN_DOUBLE = 2**53


def numbers_of(values: Iterable[Any], where: str) -> Array:
    """Python's numbers, as an array of objects holds them; None and pandas.NA are NaN.

    Raises
    ------
    TypeError
        For the first value that is none.
    """
    items = list(values)
    for place, item in enumerate(items):
        if isinstance(item, Real | Decimal):
            continue
        if item is None or type(item).__name__ in ("NAType", "NaTType"):
            items[place] = None
            continue
        raise TypeError(f"{where}: {NOT_NUMBERS}: got {item!r} at place {place}")
    if any(item is None for item in items):
        check_exact((i for i in items if isinstance(i, int)), where)
        return np.array([np.nan if i is None else float(i) for i in items])
    found = np.array(items)
    if found.dtype == object:
        check_exact((i for i in items if isinstance(i, int)), where)
        found = np.array([float(i) for i in items])
    return found


def check_exact(integers: Iterable[int], where: str) -> None:
    for number in integers:
        if abs(number) > _EXACT_IN_DOUBLE:
            raise ValueError(
                f"{where}: got {number} beside values that are no integers, expected integers up "
                "to 2^53 in magnitude, which float64 holds"
            )


def in_direct_type(a: Array, argument: str) -> Array:
    """`a` in a type that the library takes; every value stays what it is."""
    return a if a.dtype in DIRECT else convert(a, argument, None, False)


def in_table_type(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
    """`a` in a type that the library reads tables in, 64-bit integers among them, in one piece."""
    if a.dtype not in DIRECT and a.dtype not in WIDE:
        a = convert(a, argument, copy, ordinal)
    return np.ascontiguousarray(a)


def convert(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
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
    if native.dtype in DIRECT:
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


def is_exact(a: Array) -> bool:
    """Whether float64 holds these integers."""
    if a.size == 0:
        return True
    return bool(a.min() >= -_EXACT_IN_DOUBLE and a.max() <= _EXACT_IN_DOUBLE)


def _codes(a: Array) -> Array:
    """The position of each value among the distinct values: the same order, ties and all."""
    codes = np.unique(a, return_inverse=True)[1].reshape(a.shape)
    return codes.astype(np.int32 if codes.size <= _INT32.max else np.float64)
