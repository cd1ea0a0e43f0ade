"""A checksum of pairs with their statistics that does not depend on their order and adds up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._tables.arrays import doubles, integers


class Checksum(NamedTuple):
    """Checksum of pairs with their statistics, whatever their order.

    The checksums of the parts of a job add up to that of the whole: a pair that is lost, appears
    twice or has another statistic changes it. As a string, "pairs:mix1:mix2" with the mixes in
    hexadecimal digits, it is what the command's reports have.

    Attributes
    ----------
    pairs : int
        Number of pairs.
    mix1, mix2 : int
        Sums over the pairs of two mixes of row, column and the bits of the statistic, modulo 2**64.
    """

    pairs: int = 0
    mix1: int = 0
    mix2: int = 0

    def __add__(self, other: Any) -> Checksum:
        if not isinstance(other, Checksum):
            return NotImplemented
        return Checksum(*((a + b) % 2**64 for a, b in zip(self, other, strict=True)))

    def __radd__(self, other: Any) -> Checksum:
        return self if other == 0 else NotImplemented  # for sum()

    def __str__(self) -> str:
        return f"{self.pairs}:{self.mix1:016x}:{self.mix2:016x}"

    @classmethod
    def parse(cls, text: str) -> Checksum:
        """The checksum that `str` wrote."""
        pairs, mix1, mix2 = text.split(":")
        return cls(int(pairs), int(mix1, 16), int(mix2, 16))


def checksum(row: npt.ArrayLike, col: npt.ArrayLike, statistic: npt.ArrayLike) -> Checksum:
    """The checksum of pairs, as the summary of a run has it.

    Parameters
    ----------
    row, col : array_like of int, shape (pairs,)
        Row numbers.
    statistic : array_like of float, shape (pairs,)
        rho or r.

    Returns
    -------
    Checksum
        The same for any order of the pairs.

    Raises
    ------
    ValueError
        For arrays of unequal lengths, and for row numbers outside of [0, 2**32).
    TypeError
        For row numbers that are not integers.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> edges = gs.spearman_edges([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]])
    >>> gs.checksum(edges.row, edges.col, edges.statistic) == edges.summary.checksum
    True
    """
    i, j = _row_numbers(row, "row"), _row_numbers(col, "col")
    values = doubles(statistic, "statistic")
    if values.ndim != 1:
        raise ValueError(f"statistic: got {values.ndim} dimensions, expected 1")
    return Checksum._make(_core.checksum(i, j, values))


def _row_numbers(numbers: npt.ArrayLike, argument: str) -> npt.NDArray[np.int32]:
    """The words of unsigned 32-bit numbers, as the compiled part takes them."""
    found = integers(numbers, argument)
    if found.ndim != 1:
        raise ValueError(f"{argument}: got {found.ndim} dimensions, expected 1")
    if found.size == 0:
        return np.empty(0, np.int32)
    if found.dtype != np.uint32 and not (found.min() >= 0 and found.max() < 2**32):
        raise ValueError(
            f"{argument}: got numbers from {found.min()} to {found.max()}, expected 0 to "
            f"{2**32 - 1}"
        )
    return np.ascontiguousarray(found, dtype=np.uint32).view(np.int32)
