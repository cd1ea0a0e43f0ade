"""What tables call their observations and variables: matched, and looked at for what is unusual."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .arrays import plain_array
from .frames import NamedTable, is_frame, labels_of
from .sparse import SparseRows

Match = Literal["name", "position"]
Order = npt.NDArray[np.intp]

_PACKAGE = str(Path(__file__).parents[1])
FEWEST_SUSPECT = 1000  # rows without names that may be observations
_TIME_INDEXES = ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def is_series(x: Any) -> bool:
    """Whether `x` is a pandas Series: a vector with labels."""
    return hasattr(x, "iloc") and hasattr(x, "index") and not hasattr(x, "columns")


def observations_of(x: Any, in_columns: bool) -> Any:
    """What a table, or a vector with an entry for each observation, calls its observations.

    The index of a pandas object as it is, also where it has but numbers; None without labels.
    """
    if type(x) is np.ndarray:
        return None
    if isinstance(x, NamedTable):
        return x.names if in_columns else x.columns
    if is_series(x):
        return x.index
    if not is_frame(x):
        return None
    if hasattr(x, "iloc"):
        return x.index if in_columns else x.columns
    return None if in_columns else labels_of(x).columns


def check_match(match: Any) -> Match:
    """`match` as the functions take it."""
    if match not in ("name", "position"):
        raise ValueError(f"match: got {match!r}, expected 'name' or 'position'")
    return "position" if match == "position" else "name"


def order_of(
    wanted: Any, given: Any, argument: str, match: Match = "name", of: str = "x"
) -> Order | None:
    """Where the observation of each label in `wanted` is among those of `given`.

    None where they are taken in the order that they have: without labels on a side, with the same
    ones in the same order, and for match="position".

    Raises
    ------
    ValueError
        Where a label is on one side alone, or repeats so that it is not said which is which.
    """
    if match == "position" or wanted is None or given is None or wanted is given:
        return None
    if hasattr(wanted, "equals") and hasattr(given, "equals") and wanted.equals(given):
        return None
    want, have = list(wanted), list(given)
    if want == have:
        return None
    places = {label: place for place, label in enumerate(have)}
    known = set(want)
    missing = [label for label in want if label not in places]
    unknown = [label for label in have if label not in known]
    if (missing or unknown) and (_is_default(wanted) or _is_default(given)):
        return None  # numbers of rows are labels only where they say another order
    advice = "observations are matched by label; match='position' pairs them in order"
    if missing or unknown:
        faults = []
        if missing:
            faults.append(f"lacks {_told(missing)}, which {of} has")
        if unknown:
            faults.append(f"got {_told(unknown)}, which {of} does not have")
        if len(want) != len(have):
            advice = f"got {len(have)} observations, expected {len(want)} as {of} has"
        raise ValueError(f"{argument}: {'; '.join(faults)}: {advice}")
    if len(places) < len(have) or len(known) < len(want):
        raise ValueError(
            f"{argument}: its labels are in another order than those of {of}, and some repeat: "
            f"{advice}"
        )
    return np.fromiter((places[label] for label in want), np.intp, len(want))


def in_order(table: Any, order: Order | None, argument: str, copy: bool | None = None) -> Any:
    """A table with its variables in rows, and the observations in that order."""
    if order is None:
        return table
    if copy is False:
        raise ValueError(
            f"{argument}: its observations are in another order than those of x, and copy=False "
            "forbids a copy"
        )
    if not isinstance(table, SparseRows):
        return np.ascontiguousarray(table[:, order])
    from scipy import sparse

    stored = (table.values, table.column, table.row_begin)
    matrix = sparse.csr_array(stored, shape=table.shape)[:, order]
    matrix.sort_indices()
    return SparseRows(matrix.indptr, matrix.indices, matrix.data, table.shape)


def matched(
    given: Any, argument: str, wanted: Any, in_columns: bool, match: Match = "name", of: str = "x"
) -> Any:
    """Covariates, weights or a mask of observations, in the order of the labels `wanted`."""
    order = order_of(wanted, observations_of(given, in_columns), argument, match, of)
    if order is None:
        return given
    values = plain_array(given, argument)
    return values[order] if values.ndim == 1 or in_columns else values[:, order]


def check_labels(x: Any, argument: str, in_columns: bool, axis_is_given: bool) -> None:
    """Warns of variables that share a name; without `axis` of rows that look like observations.

    Cost: a hash of each name, where there are any.
    """
    labels = None if type(x) is np.ndarray else labels_of(x)
    rows = None if labels is None else labels.rows
    if not axis_is_given:
        told = _sign_of_observations(x, rows)
        if told:
            warn(
                f"{argument}: {told}: each row is a variable. axis='columns' takes the columns as "
                "variables, axis='rows' says that the rows are meant"
            )
    names = rows if not in_columns or labels is None else labels.columns
    if names is None:
        return
    repeated = _repeated(names)
    if repeated is not None:
        different, name = repeated
        warn(f"{argument}: {len(names)} variables have {different} different names: "
             f"{_plain(name)!r} is of several")  # fmt: skip


def warn(text: str) -> None:
    """A UserWarning of the line outside this package that called it."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, UserWarning, stacklevel=level)


def _sign_of_observations(x: Any, rows: Any) -> str:
    if type(rows).__name__ in _TIME_INDEXES:
        return f"its index is a {type(rows).__name__}"
    values = x.values if isinstance(x, NamedTable) else x
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if rows is None and len(shape) == 2 and shape[0] >= max(FEWEST_SUSPECT, 2 * shape[1]):
        return f"{shape[0]:,} rows without names x {shape[1]:,} columns"
    return ""


def _repeated(names: Any) -> tuple[int, Any] | None:
    """How many names differ, and one that repeats; None where none does."""
    if hasattr(names, "is_unique"):
        if names.is_unique:
            return None
        return int(names.nunique(dropna=False)), names[names.duplicated()][0]
    seen = set()
    first = None
    for name in names.tolist() if isinstance(names, np.ndarray) else names:
        if first is None and name in seen:
            first = (name,)
        seen.add(name)
    return None if first is None else (len(seen), first[0])


def _is_default(labels: Any) -> bool:
    """Whether they are the numbers from 0 on that pandas gives where nobody gave labels."""
    return type(labels).__name__ == "RangeIndex" and labels.start == 0 and labels.step == 1


def _told(labels: list[Any]) -> str:
    more = "" if len(labels) == 1 else f" and {len(labels) - 1} more"
    return f"{_plain(labels[0])!r}{more}"


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
