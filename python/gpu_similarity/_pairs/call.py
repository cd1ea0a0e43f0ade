"""What the functions over all pairs of rows do first: tables, names and options in one place."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import _core
from .._results.records import Names
from .._shared.messages import real, unknown_keyword
from .._shared.options import (
    ALL_MEASURES,
    BIT_MEASURES,
    MEASURES,
    Adjustment,
    Measure,
    PairRunOptions,
    Tail,
    adjustment_of,
)
from .._shared.progress import callback
from .._tables import device_memory as _device
from .._tables.arrays import (
    covariates_of,
    is_plain_table,
    names_of,
    table,
    variables_in_columns,
    weights_of,
)
from .._tables.frames import is_sparse, labels_of, without_names
from .._tables.labels import (
    FEWEST_SUSPECT,
    Match,
    check_labels,
    check_match,
    in_order,
    matched,
    observations_of,
    order_of,
)
from .._tables.numbers import Array
from .._tables.places import Places
from .._tables.sparse import SparseRows, sparse_rows
from .bits import Rows, in_order_of, names_of_rows, words_of

EdgeOrder = Literal["by-row-then-column", "unspecified"]
# A host array, sparse rows on the host, or device memory as the compiled part takes it.
Table = Array | SparseRows | _device.TableDescription
# A cut that keeps equal rows, whose statistic is rounded.
_KEEPS_EQUAL_ROWS = 0.999999999999


class PreparedRows:
    """The rows of a table, prepared by `prepare` for many queries: the `y` of other calls.

    Attributes
    ----------
    rows, cols : int
        Shape of the table.
    constant_rows, nan_rows, infinite_rows : ndarray of int64
        Rows without a statistic: all values equal, a NaN, an infinite value.
    backend, device, variant : str
        What holds the rows and computes the queries.
    seconds : float
        What preparing them took.
    measure : str
        The name of the measure, as "spearman".
    observations : int or float
        Of the test of a pair: see `PairSummary`. Queries take the covariates and weights that the
        rows were prepared with.
    names : ndarray or None
        Names of the rows.
    labels : sequence or None
        Names of the columns, by which those of queries are matched.
    """

    def __init__(
        self,
        prepared: _core.PreparedRows,
        measure: Measure,
        names: Names,
        observations: float,
        labels: Any = None,
    ) -> None:
        self.prepared = prepared
        self.labels = labels
        self.measure = measure
        self.names = names
        self.observations = observations
        (
            self.rows,
            self.cols,
            self.constant_rows,
            self.nan_rows,
            self.infinite_rows,
            self.backend,
            self.device,
            self.variant,
            self.seconds,
        ) = prepared.told()

    def __len__(self) -> int:
        return int(self.rows)

    def __repr__(self) -> str:
        return f"PreparedRows: {self.rows:,} x {self.cols:,}, {self.measure}, on {self.device}"


class PairCall(NamedTuple):
    """A call over all pairs, ready for the compiled part."""

    x: Table
    y: Table | _core.PreparedRows | None
    options: dict[str, Any]
    names: Names
    y_names: Names
    rows: int
    cols: int
    y_rows: int | None
    arrays: tuple[Any, ...]  # whose memory is used, to be kept until the call ends
    places: dict[str, Places] | None = None  # of tables whose rows or columns errors can name
    prepared_observations: float | None = None  # of the test, where y is prepared
    labels: Any = None  # of the observations, as x has them


def tested_observations(measure: Measure, call: PairCall) -> float:
    """The observations of the test of a pair of a call, a float of effective ones; 0: no p."""
    if call.prepared_observations is not None:
        return call.prepared_observations
    options = call.options
    weights, effective = options.get("weights"), options.get("effective_observations")
    if not ALL_MEASURES[measure].has_p or (weights is not None and not effective):
        return 0
    covariates = options.get("covariates")
    observations = real("effective_observations", effective) if effective else call.cols
    return observations - (0 if covariates is None else len(covariates))


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
    options: dict[str, Any] = run  # type: ignore[assignment]
    names = y_names = copy = axis = None
    in_columns = False
    match: Match = "name"
    if options:
        for name in ("measure", "max_p", "min_abs", "tail", "adjust"):
            if name in options:  # the calling function has no such parameter
                raise TypeError(unknown_keyword(name, []))
        names, y_names = options.pop("names", None), options.pop("y_names", None)
        copy = options.pop("copy", None)
        axis = options.pop("axis", None)
        in_columns = variables_in_columns(axis)
        match = check_match(options.pop("match", "name"))
        if options.get("covariates") is not None:
            own = matched(
                options["covariates"], "covariates", observations_of(x, in_columns), in_columns,
                match,
            )  # fmt: skip
            options["covariates"] = covariates_of(own, in_columns, _is_ordinal(measure))
        if options.get("weights") is not None:
            own = matched(
                options["weights"], "weights", observations_of(x, in_columns), True, match
            )
            options["weights"] = weights_of(own)
        if "progress" in options:
            options["progress"] = callback(options["progress"])
        if options.get("min_observations") is not None and options.get("nans") != "pairwise":
            raise ValueError(
                f"min_observations: got {options['min_observations']!r}, expected it with "
                "nans='pairwise': other pairs have the observations of the table"
            )
    if measure != "spearman":
        options["measure"] = measure
    if max_p != 1.0:
        options["max_p"] = max_p
    if min_abs != 0.0:
        options["min_abs"] = min_abs
        if _KEEPS_EQUAL_ROWS < min_abs <= 1 and measure not in BIT_MEASURES:
            _warn_of_rounded_ones(measure, options)
    if tail != "two-sided":
        options["tail"] = tail
    if adjust != "none":
        options["adjust"] = adjustment_of(adjust)
    if measure in BIT_MEASURES:
        if in_columns:
            raise ValueError(f"axis: got {axis!r}, expected 0: {measure} is of rows of bits")
        return _bit_call(x, y, options, names, y_names, match)
    if y is not None or type(x) is not np.ndarray or x.size >= FEWEST_SUSPECT:
        for argument, data in (("x", x), ("y", y)):
            if data is not None and not isinstance(data, PreparedRows):
                check_labels(data, argument, in_columns, axis is not None)
    # What most callers pass, with few calls of functions; the constructor of a NamedTuple costs
    # several times that of a tuple.
    if y is None and names is None and y_names is None and not in_columns and is_plain_table(x):
        rows, cols = x.shape
        return tuple.__new__(
            PairCall, (x, None, options, None, None, rows, cols, None, (), None, None, None)
        )
    if type(x) is not np.ndarray and copy is not True and _device.is_device_array(x):
        return _device_call(x, y, options, names, y_names, in_columns)
    reading: dict[str, Any] = {"copy": copy, "in_columns": in_columns, "any_layout": True}
    return _host_call(x, y, measure, options, names, y_names, reading, match)


def _warn_of_rounded_ones(measure: Measure, options: dict[str, Any]) -> None:
    """Equal rows of doubles miss 1 by the rounding of their lengths, some of them."""
    if measure in MEASURES and MEASURES[measure].is_ordinal and options.get("covariates") is None:
        return
    warnings.warn(
        "min_abs: equal rows may have a statistic just below 1, as 0.9999999999999999: "
        f"min_abs={_KEEPS_EQUAL_ROWS} keeps all of them",
        UserWarning,
        stacklevel=4,
    )


def _host_call(
    x: Any,
    y: Any,
    measure: Measure,
    options: dict[str, Any],
    names: Any,
    y_names: Any,
    reading: dict[str, Any],
    match: Match,
) -> PairCall:
    """The same for tables in the memory of the host, which `reading` says how to read."""
    reading["ordinal"] = _is_ordinal(measure)
    in_columns, copy = reading["in_columns"], reading["copy"]
    first = _read(x, "x", reading)
    rows, cols = first.shape
    labels, places = _named(x, "names", names, rows, in_columns)
    observed = observations_of(x, in_columns)
    named = {"x": places}
    if y is None:
        _no_names_of_y(y_names)
        return PairCall(
            first, None, options, labels, None, rows, cols, None, (), named, labels=observed
        )
    if isinstance(y, PreparedRows):
        # The prepared rows stay as they are: x takes their order.
        order = order_of(y.labels, observed, "x", match, "y")
        first = in_order(first, order, "x", copy)
        if order is not None:
            named["x"] = places._replace(observations=y.labels)
        call = _prepared_call(first, y, options, labels, y_names, rows, cols, ())
        return call._replace(places=named)
    order = order_of(observed, observations_of(y, in_columns), "y", match)
    second = in_order(_read(y, "y", reading), order, "y", copy)
    y_rows = len(second)
    y_labels, named["y"] = _named(y, "y_names", y_names, y_rows, in_columns)
    if order is not None:
        named["y"] = named["y"]._replace(observations=observed)
    return PairCall(first, second, options, labels, y_labels, rows, cols, y_rows, (), named)


def _bit_call(
    x: Rows, y: Any, options: dict[str, Any], names: Any, y_names: Any, match: Match
) -> PairCall:
    """The same for rows of bits, in the memory of the host or of a GPU."""
    first, cols = words_of(x, "x")
    rows = first.shape[0]
    if isinstance(first, _device.DeviceArray):
        options = first.options(options)
    options["bits"] = cols
    told = _described(first)
    labels = names_of_rows(names, x, "names", rows)
    if y is None:
        _no_names_of_y(y_names)
        return PairCall(told, None, options, labels, None, rows, cols, None, (first,))
    if isinstance(y, PreparedRows):
        return _prepared_call(told, y, options, labels, y_names, rows, cols, (first,))
    second, y_cols = words_of(in_order_of(x, y, match), "y")
    if y_cols != cols:
        raise ValueError(f"y: got {y_cols} columns, expected the {cols} of x")
    y_rows = second.shape[0]
    y_labels = names_of_rows(y_names, y, "y_names", y_rows)
    arrays = (first, second)
    y_told = _described(second)
    return PairCall(told, y_told, options, labels, y_labels, rows, cols, y_rows, arrays)


def _described(words: Array | _device.DeviceArray) -> Table:
    return (*words.describe("int32"), 1) if isinstance(words, _device.DeviceArray) else words


def _read(x: Any, argument: str, reading: dict[str, Any]) -> Array | SparseRows:
    """A table in the memory of the host, sparse where it is."""
    if type(x) is np.ndarray or not is_sparse(x := without_names(x)):
        return table(x, argument, **reading)
    sparse = {name: reading[name] for name in ("copy", "ordinal", "in_columns")}
    return sparse_rows(x, argument, **sparse)


def _named(
    x: Any, argument: str, names: Any, variables: int, in_columns: bool
) -> tuple[Names, Places]:
    """The names of the variables of a table, and how errors speak of its places."""
    labels = labels_of(x)
    own, others = (labels.columns, labels.rows) if in_columns else (labels.rows, labels.columns)
    found = names_of(names, own, argument, variables)
    return found, Places(found, others, in_columns)


def device_call(x: Any, y: Any, measure: Measure, run: Any) -> tuple[PairCall, _device.DeviceArray]:
    """A call on device memory with results there, and the first of its tables."""
    for name, data in (("x", x), ("y", y)):
        if data is not None and not _device.is_device_array(data):
            raise TypeError(f"{name}: got an array on the host, expected one in a GPU's memory")
    options: dict[str, Any] = dict(run)
    if "adjust" in options:
        options["adjust"] = adjustment_of(options["adjust"])
    if measure != "spearman":
        options["measure"] = measure
    call = _device_call(x, y, options, None, None, variables_in_columns(options.pop("axis", 0)))
    return call, call.arrays[0]


def _device_call(
    x: Any, y: Any, options: dict[str, Any], names: Any, y_names: Any, in_columns: bool
) -> PairCall:
    """The same for tables in the memory of a GPU: read there, behind the current stream."""
    first = _device.device_table(x, "x", in_columns)
    rows, cols = first.shape
    options = first.options(options)
    labels = names_of(names, None, "names", rows)
    if y is None:
        _no_names_of_y(y_names)
        told = first.describe_table()
        return PairCall(told, None, options, labels, None, rows, cols, None, (first,))
    if isinstance(y, PreparedRows):
        told = first.describe_table()
        return _prepared_call(told, y, options, labels, y_names, rows, cols, (first,))
    if not _device.is_device_array(y):
        raise TypeError("y: got an array on the host, expected one in the memory of a GPU as x is")
    second = _device.device_table(y, "y", in_columns)
    if second.device != first.device:
        raise ValueError(f"y: got an array of device {second.device}, expected {first.device} as x")
    y_rows = second.shape[0]
    y_labels = names_of(y_names, None, "y_names", y_rows)
    return PairCall(
        first.describe_table(),
        second.describe_table(),
        options,
        labels,
        y_labels,
        rows,
        cols,
        y_rows,
        (first, second),
    )


def _prepared_call(
    x: Table,
    y: PreparedRows,
    options: dict[str, Any],
    names: Names,
    y_names: Any,
    rows: int,
    cols: int,
    arrays: tuple[Any, ...],
) -> PairCall:
    labels = y.names if y_names is None else names_of(y_names, None, "y_names", y.rows)
    return PairCall(
        x,
        y.prepared,
        options,
        names,
        labels,
        rows,
        cols,
        y.rows,
        arrays,
        prepared_observations=_observations_with(y, options),
    )


def _is_ordinal(measure: Measure) -> bool:
    return measure in MEASURES and MEASURES[measure].is_ordinal


def _observations_with(y: PreparedRows, options: dict[str, Any]) -> float:
    """Those of the test of a query. Rows without covariates and weights leave it the choice."""
    effective = options.get("effective_observations")
    if not effective or y.observations != y.cols:
        return y.observations
    return real("effective_observations", effective)


def _no_names_of_y(y_names: Any) -> None:
    if y_names is not None:
        raise ValueError("y_names: got names without y")
