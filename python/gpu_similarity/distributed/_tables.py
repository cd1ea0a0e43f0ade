"""The tables of a job: arrays, frames or files, as they are checked, sent and read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._tables.arrays import names_of, table
from .._tables.frames import NamedTable, labels_of
from .._tables.labels import observations_of
from .._tables.numbers import Array
from .._tables.places import name_of
from .._tables.read_table import read_table

_NPY = b"\x93NUMPY"
_CHECKED_AT_ONCE = 1 << 21


class Named(NamedTuple):
    """A table with its variables in rows, their names, and the labels of the observations."""

    values: Array
    names: Array | None
    observations: Any = None


def is_path(data: Any) -> bool:
    """Whether a table of a job is given as the path of a file."""
    return isinstance(data, str | os.PathLike)


def read(
    data: Any,
    argument: str,
    names: Any,
    *,
    in_columns: bool,
    ordinal: bool,
    reading: Mapping[str, Any],
    mapped: bool = False,
) -> Named:
    """A table as tasks compute with it; of a file, what it holds now.

    A .npy file is read into memory, or mapped, any other as `read_table` reads it with the keywords
    `reading`. Names are `names`, else those of the file or the frame.
    """
    if is_path(data):
        data = _load(data, argument, reading, mapped)
    found = labels_of(data)
    labels = found.columns if in_columns else found.rows
    values = table(data, argument, ordinal=ordinal, in_columns=in_columns)
    of = "names" if argument == "x" else "y_names"
    named = names_of(names, labels, of, len(values))
    return Named(values, named, observations_of(data, in_columns))


def check_readable(data: Any, argument: str, reading: Mapping[str, Any]) -> None:
    """Raises what a task would meet when it reads the table; of .npy the header alone is read."""
    if not is_path(data):
        return
    loaded = _load(data, argument, reading, True)
    if loaded.values.ndim != 2 or loaded.values.dtype.kind not in "biuf":
        raise ValueError(
            f"{argument}: {data} holds {loaded.values.dtype} of {loaded.values.ndim} dimensions, "
            "expected numbers of 2"
        )


def check_no_nan(found: Named, argument: str) -> None:
    """Raises the ValueError of a task for the first NaN of a table."""
    values = found.values
    if values.dtype.kind != "f" or values.size == 0:
        return
    at_once = max(1, _CHECKED_AT_ONCE // max(1, values.shape[1]))
    for first in range(0, len(values), at_once):
        is_nan = np.isnan(values[first : first + at_once])
        if not is_nan.any():
            continue
        row, column = np.argwhere(is_nan)[0].tolist()
        row += first
        label = name_of(found.names, row)
        raise ValueError(
            f"{argument}: got NaN at variable {label}, observation {column}, expected numbers; "
            "options={'nans': 'pairwise'} skips NaN pair by pair, 'propagate' drops such "
            "variables"
        )


def _load(path: Any, argument: str, reading: Mapping[str, Any], mapped: bool) -> NamedTable:
    with open(path, "rb") as file:
        is_npy = file.read(len(_NPY)) == _NPY
    if not is_npy and Path(path).suffix != ".npy":
        loaded: NamedTable = read_table(path, **{**reading, "frame": False})
        if isinstance(loaded.values, np.ndarray):
            return loaded
        # What is hashed and shared out are rows of an array.
        return loaded._replace(values=loaded.values.toarray())
    try:
        # Without a map in memory of its own: what is hashed is what is computed from.
        values = np.load(path, mmap_mode="r" if mapped else None)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{argument}: {path} cannot be read as .npy: {error}") from error
    return NamedTable(values, None, None, ())
