"""What the functions over all pairs of rows do first: tables, names and options in one place."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

from ._arrays import Array, row_names, table
from ._options import Adjustment, Measure, PairRunOptions, Tail
from ._progress import callback
from ._results import Names

EdgeOrder = Literal["by-row-then-column", "unspecified"]


class PairCall(NamedTuple):
    """A call over all pairs, ready for the compiled part."""

    x: Array
    y: Array | None
    options: dict[str, Any]
    names: Names
    y_names: Names


def pair_call(
    x: Any,
    y: Any,
    measure: Measure,
    run: PairRunOptions,
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
) -> PairCall:
    """Tables that the library reads in place, their names, and the options that are not defaults.

    `run` is used up: it belongs to the calling function.
    """
    options = cast("dict[str, Any]", run)
    names = y_names = copy = None
    if options:
        names, y_names = options.pop("names", None), options.pop("y_names", None)
        copy = options.pop("copy", None)
        if "progress" in options:
            options["progress"] = callback(options["progress"])
    if measure != "spearman":
        options["measure"] = measure
    if max_p != 1.0:
        options["max_p"] = max_p
    if min_abs != 0.0:
        options["min_abs"] = min_abs
    if tail != "two-sided":
        options["tail"] = tail
    if adjust != "none":
        options["adjust"] = adjust
    ordinal = measure == "spearman"
    first = table(x, "x", copy=copy, ordinal=ordinal)
    labels = row_names(x, "names", names, len(first))
    if y is None:
        if y_names is not None:
            raise ValueError("y_names: got names without y")
        return PairCall(first, None, options, labels, None)
    second = table(y, "y", copy=copy, ordinal=ordinal)
    return PairCall(first, second, options, labels, row_names(y, "y_names", y_names, len(second)))
