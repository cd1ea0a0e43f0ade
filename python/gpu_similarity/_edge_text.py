"""Edges as lines of text."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._edges import Edges

# A few arrays of so many Python objects are in memory at a time.
_LINES = 1 << 16


def write_csv(
    edges: Edges, path: Any, more: dict[str, npt.NDArray[np.float64]], separator: str
) -> None:
    """Writes row, col, statistic, p and `more`, a chunk of lines at a time."""
    columns = {"statistic": edges.statistic, "p": edges.p, **more}
    names = (edges.names, edges.other_names)
    opened: Any = gzip.open if os.fspath(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(["row", "col", *columns])
        for first in range(0, len(edges), _LINES):
            chunk = slice(first, first + _LINES)
            ends = (
                numbers[chunk].tolist() if own is None else own[numbers[chunk]].tolist()
                for numbers, own in zip((edges.row, edges.col), names, strict=True)
            )
            values = (_fields(column[chunk]) for column in columns.values())
            writer.writerows(zip(*ends, *values, strict=True))


def _fields(values: npt.NDArray[np.float64]) -> Iterable[Any]:
    return ["" if value != value else value for value in values.tolist()]
