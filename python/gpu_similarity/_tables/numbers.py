"""The types that the library takes, and values of other types in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
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
OF_ANOTHER_PACKAGE = 2  # dtype.isbuiltin, as of bfloat16
_INT32 = np.iinfo(np.int32)
_EXACT_IN_DOUBLE = 2**53


def numbers_of(values: Iterable[Any], where: str, ordinal: bool = False) -> Array:
    """Python's numbers, as an array of objects holds them; None and pandas.NA are NaN.

    Integers and doubles stay what they are, fractions and decimals become the nearest double. With
    `ordinal`, numbers that doubles would round become their places in order.

    Raises
    ------
    TypeError
        For the first value that is not a number.
    ValueError
        For an integer that has to be a double and is not one, and for what is beyond all doubles.
    """
    items = python_numbers(values, where)
    kinds = set(map(type, items))
    if kinds == {bool}:
        return np.array(items)
    if kinds and kinds <= {int, bool}:
        found = np.array(items)
        if found.dtype.kind in "iu":
            return found
    doubles = np.array([nearest_double(item) for item in items], dtype=np.float64)
    rounded = [i for i, d in zip(items, doubles.tolist(), strict=True) if i == i and i != d]
    if rounded and ordinal:
        return _places(items, where)
    check_exact((i for i in rounded if isinstance(i, int)), where)
    if beyond := next((i for i in rounded if math.isinf(nearest_double(i))), None):
        raise ValueError(f"{where}: got {beyond}, expected numbers that float64 holds")
    return doubles


def python_numbers(values: Iterable[Any], where: str) -> list[Any]:
    """Numbers as Python has them, none rounded; what is missing is NaN."""
    return [_number(item, place, where) for place, item in enumerate(values)]


def _number(item: Any, place: int, where: str) -> Any:
    """One number as Python compares it, without rounding."""
    if isinstance(item, np.longdouble):
        is_double = float(item) == item or np.isnan(item)
        return float(item) if is_double else Fraction(*item.as_integer_ratio())
    if isinstance(item, np.generic) and item.dtype.kind in "biuf":
        return item.item()
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return math.nan
    if isinstance(item, Decimal) and not item.is_finite():
        return math.nan if item.is_nan() else float(item)
    if isinstance(item, Real | Decimal):
        return item
    raise TypeError(f"{where}: {NOT_NUMBERS}: got {item!r} at place {place}")


def nearest_double(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _places(items: list[Any], where: str) -> Array:
    """The place of each number among the distinct ones; NaN stays."""
    try:
        distinct = sorted({item for item in items if item == item})
    except TypeError as error:  # as of a Decimal and a Fraction
        raise TypeError(f"{where}: its numbers cannot be put in order: {error}") from None
    place: dict[Any, float] = {item: number for number, item in enumerate(distinct)}
    return np.array([place.get(item, math.nan) for item in items])


def check_exact(integers: Iterable[int], where: str) -> None:
    for number in integers:
        if abs(number) > _EXACT_IN_DOUBLE:
            raise ValueError(
                f"{where}: got {number} among values that are not all 64-bit integers, expected "
                "integers up to 2^53 in magnitude, which float64 holds"
            )


def in_direct_type(a: Array, argument: str) -> Array:
    """`a` in a type that the library takes, or bool; every value stays what it is."""
    return a if a.dtype in DIRECT or a.dtype == np.bool_ else convert(a, argument, None, False)


def in_table_type(a: Array, argument: str, copy: bool | None, ordinal: bool) -> Array:
    """The stored values of a sparse table in a type that the library reads tables in, in one piece.

    Where they become their places in order, these count from that of 0, which is not stored.
    """
    if a.dtype == np.bool_:
        a = a.view(np.uint8)
    if a.dtype in DIRECT or a.dtype in WIDE:
        return np.ascontiguousarray(a)
    native = a.astype(a.dtype.newbyteorder("="), copy=False)
    if native.dtype in WIDE and copy is not False:
        return np.ascontiguousarray(native)
    with_zero = convert(np.append(a, np.zeros(1, a.dtype)), argument, copy, ordinal)
    values: Array = with_zero[:-1] - with_zero[-1]
    return values


def in_numpys_type(a: Array) -> Array:
    """bfloat16, float8 or int4 of ml_dtypes, which JAX has too, in a type that holds each value."""
    if a.dtype.isbuiltin != OF_ANOTHER_PACKAGE:
        return a
    holds = (t for t in ("i1", "u1", "f4", "f8") if np.can_cast(a.dtype, t))
    return a.astype(next(holds, a.dtype), order="C")


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
        a = numbers_of(a.ravel(), argument, ordinal).reshape(a.shape)
        if a.dtype == np.bool_:
            return a.view(np.uint8)
    native = a.astype(a.dtype.newbyteorder("="), copy=False)
    if native.dtype in DIRECT:
        return native
    # In the order that the library reads, so that no second copy follows.
    if native.dtype == np.float16:
        return native.astype(np.float32, order="C")
    if native.dtype.kind in "iu":
        return _convert_integers(native, argument, ordinal)
    if native.dtype.kind == "f":
        return _convert_long_doubles(native, argument, ordinal)
    if native.dtype.kind == "c":
        raise TypeError(f"{argument}: complex numbers are not taken")
    raise TypeError(f"{argument}: elements of type {a.dtype} are not numbers")


def _convert_long_doubles(a: Array, argument: str, ordinal: bool) -> Array:
    with np.errstate(over="ignore"):
        doubles = a.astype(np.float64, order="C")
    if ordinal and not np.array_equal(doubles, a, equal_nan=True):
        return _codes(a)
    if not np.array_equal(np.isinf(doubles), np.isinf(a)):
        raise ValueError(f"{argument}: got numbers that float64 does not hold")
    return doubles


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
    if a.dtype.kind == "f" and np.isnan(a).any():
        return np.where(np.isnan(a), np.nan, codes)
    return codes.astype(np.int32 if codes.size <= _INT32.max else np.float64)
