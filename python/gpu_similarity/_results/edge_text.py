"""Edges as lines of text."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from .records import EdgeRecords

# A few arrays of so many Python objects are in memory at a time.
_LINES = 1 << 16
_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TABS = (".tsv", ".tab")
# What names a file that is no such text, and what writes it.
_OTHERS = {
    ".parquet": "edges.to_pandas().to_parquet(path), or gs.stream(...).to_parquet(path)",
    ".npy": "numpy.save(path, edges.records)",
    ".npz": "scipy.sparse.save_npz(path, edges.to_scipy())",
    ".mtx": "edges.to_matrix_market(path)",
    ".graphml": "edges.to_graphml(path)",
    ".sif": "edges.to_sif(path)",
    ".ncol": "edges.to_ncol(path)",
    ".zst": "edges.to_pandas().to_csv(path) with the package zstandard",
    ".zip": "edges.to_pandas().to_csv(path)",
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "edges.to_pandas().to_excel(path)"),
    **dict.fromkeys((".feather", ".arrow"), "edges.to_pandas().to_feather(path)"),
}


def separator_of(path: Any, separator: str | None) -> str:
    """What stands between the fields of a file, as its name says where nobody else does.

    Raises
    ------
    ValueError
        For a separator that is none, and for the name of another kind of file.
    """
    endings = [ending.lower() for ending in PurePath(os.fsdecode(path)).suffixes]
    if endings and endings[-1] in _COMPRESSED:
        endings.pop()
    last = endings[-1] if endings else ""
    if last in _OTHERS:
        raise ValueError(
            f"path: got a name that ends in {last!r}, expected one of text, as '.csv' or '.tsv.gz';"
            f" {_OTHERS[last]} writes the other"
        )
    if separator is None:
        return "\t" if last in _TABS else ","
    if not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n':
        raise ValueError(f"separator: got {separator!r}, expected one character, as ',' or '\\t'")
    return separator


def write_csv(
    edges: EdgeRecords, path: Any, more: dict[str, npt.NDArray[Any]], separator: str
) -> None:
    """Writes row, col, statistic, p and `more`, a chunk of lines at a time."""
    columns = {"statistic": edges.statistic, "p": edges.p, **more}
    named = ((edges.row, edges.names), (edges.col, edges.other_names))
    opened: Any = _COMPRESSED.get(PurePath(os.fsdecode(path)).suffix.lower(), open)
    with opened(path, "wt", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(["row", "col", *columns])
        for first in range(0, len(edges), _LINES):
            chunk = slice(first, first + _LINES)
            ends = (
                numbers[chunk].tolist() if own is None else own[numbers[chunk]].tolist()
                for numbers, own in named
            )
            values = (_fields(column[chunk]) for column in columns.values())
            writer.writerows(zip(*ends, *values, strict=True))


def _fields(values: npt.NDArray[np.float64]) -> Iterable[Any]:
    return ["" if value != value else value for value in values.tolist()]
