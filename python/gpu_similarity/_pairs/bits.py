"""Rows of bits in calls over all pairs of rows: booleans, octets of bits, or `Bits`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._results.records import Names
from .._rows.products import Bits
from .._tables import device_memory as _device
from .._tables.arrays import names_of, number_array
from .._tables.frames import labels_of
from .._tables.labels import Match, check_labels, observations_of, order_of
from .._tables.numbers import Array

Rows = Bits | npt.ArrayLike

_MOST_OCTETS = (2**31 - 1) // 8


def labels_of_rows(rows: Rows) -> Any:
    """The names that rows of bits have by themselves."""
    return None if isinstance(rows, Bits) else labels_of(rows)[0]


def names_of_rows(given: Any, rows: Rows, argument: str, count: int) -> Names:
    """The names of rows of bits: those that are given, or their own."""
    return names_of(given, labels_of_rows(rows), argument, count)


def in_order_of(x: Rows, y: Rows, match: Match) -> Rows:
    """y with its columns in the order of those of x that have the same labels."""
    if isinstance(x, Bits) or isinstance(y, Bits):
        return y
    order = order_of(observations_of(x, False), observations_of(y, False), "y", match)
    return y if order is None else np.asarray(y)[:, order]


def words_of(rows: Rows, argument: str) -> tuple[Array | _device.DeviceArray, int]:
    """Rows of bits as words of 32, and how many columns they have."""
    if isinstance(rows, Bits):
        if type(rows.words) is not np.ndarray:
            return _device.DeviceArray(rows.words, argument), rows.shape[1]
        return np.ascontiguousarray(rows.words).view(np.int32), rows.shape[1]
    if type(rows) is not np.ndarray and _device.is_device_array(rows):
        raise TypeError(f"{argument}: got an array in device memory, expected Bits of pack_bits")
    check_labels(rows, argument, in_columns=False, axis_is_given=True)
    array = number_array(rows, argument)
    if array.ndim != 2:
        raise ValueError(f"{argument}: got {array.ndim} dimensions, expected 2")
    if array.dtype == np.bool_:
        return _octets_as_words(np.packbits(array, axis=1, bitorder="little")), array.shape[1]
    if array.dtype == np.uint8:
        if array.shape[1] > _MOST_OCTETS:
            raise ValueError(f"{argument}: got {array.shape[1]} octets, expected {_MOST_OCTETS}")
        return _octets_as_words(array), 8 * array.shape[1]
    raise TypeError(
        f"{argument}: got elements of type {array.dtype}, expected bool, or uint8 of np.packbits"
    )


def _octets_as_words(octets: Array) -> Array:
    """Octets of bits as whole words of 4; which octet is which matters to no count."""
    missing = -octets.shape[1] % 4
    if missing or octets.shape[1] == 0:
        padded = np.zeros((octets.shape[0], octets.shape[1] + missing), dtype=np.uint8)
        padded[:, : octets.shape[1]] = octets
        octets = padded
    return np.ascontiguousarray(octets).view("<i4").astype(np.int32, copy=False)
