"""Tanimoto (Jaccard) similarity of all pairs of rows of bits."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.edges import Edges
from .._results.records import Names
from .._results.results import Counts, Dense, Partners
from .._rows.products import Bits
from .._shared.messages import integer
from .._shared.options import RunOptions
from .._shared.progress import Callback, callback
from .._tables import device_memory as _device
from .._tables.arrays import names_of, number_array
from .._tables.frames import labels_of
from .._tables.labels import Match, check_labels, check_match, observations_of, order_of
from .._tables.numbers import Array

Rows = Bits | npt.ArrayLike

_NAME = "tanimoto"
_MOST_OCTETS = (2**31 - 1) // 8


class TanimotoOptions(RunOptions, total=False):
    """Further keywords of the functions over Tanimoto similarities.

    Attributes
    ----------
    names, y_names : array_like
        Names of the rows of x and of y, for the result; default: the index of a data frame.
    match : {"name", "position"}
        Whether the columns of y are those of x with the same label, where both have labels, or in
        order.
    part : tuple of int
        (index, of): the part number `index`, from 0, of a job that is cut into `of` parts.
    progress : bool or callable
        As `PairRunOptions` has it.
    """

    names: npt.ArrayLike | None
    y_names: npt.ArrayLike | None
    match: Match
    part: tuple[int, int] | None
    progress: bool | Callback | None


class _Call(NamedTuple):
    x: Array
    y: Array | None
    cols: int
    options: dict[str, Any]
    names: Names
    y_names: Names


def tanimoto_edges(
    x: Rows,
    y: Rows | None = None,
    *,
    min_abs: float = 0.0,
    max_edges: int | None = None,
    **run: Unpack[TanimotoOptions],
) -> Edges:
    """Pairs of rows of bits whose Tanimoto (Jaccard) similarity passes a cut.

    The similarity of two rows is the number of bits that are 1 in both over the number that are 1
    in either: an exact ratio of integers, rounded once. That of two empty rows is 0, as RDKit has
    it. The CPU and CUDA give the same edges, bit for bit; the matrix of all similarities is never
    made.

    Parameters
    ----------
    x : array_like of bool, array of uint8, or Bits, shape (rows, columns)
        Rows of bits: booleans; octets of bits, as np.packbits(rows, axis=1) packs them, in either
        order; or what `pack_bits` made, in host memory.
    y : as `x`, shape (rows of y, columns), optional
        The pairs are then those of each row of x with each row of y, and no others; packed as x is.
    min_abs : float
        Keep similarities >= min_abs; in [0, 1]. 0 keeps every pair.
    max_edges : int, optional
        More edges than this raise CapacityExceeded, with the number needed.
    **run
        names, y_names, match, part, progress, backend, devices, workspace_bytes, cpu_threads,
        variant: see TanimotoOptions and RunOptions.

    Returns
    -------
    Edges
        The kept pairs in order, with the summary of the run; there is no p.

    Raises
    ------
    ValueError
        Where x and y differ in columns, or an option is out of range.
    TypeError
        For elements that are neither bool nor uint8.
    CapacityExceeded
        Where `max_edges` does not suffice; `.needed` is the number of edges.
    MemoryError
        Where memory does not suffice.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rows = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=bool)
    >>> gs.tanimoto_edges(rows, min_abs=0.5)
    Edges: 1 of 3 pairs of 3 rows, tanimoto, |tanimoto| >= 0.5
      0 -- 1  0.750000
    """
    call = _call(x, y, run, min_abs)
    if max_edges is not None:
        call.options["max_edges"] = max_edges
    records, summary = _core.tanimoto_edges(call.x, call.y, call.cols, call.options)
    return Edges(records, summary, _NAME, call.names, call.y_names)


def tanimoto_partners(
    x: Rows,
    k: int,
    y: Rows | None = None,
    *,
    min_abs: float = 0.0,
    **run: Unpack[TanimotoOptions],
) -> Partners:
    """The k most similar rows of each row of bits, by Tanimoto (Jaccard) similarity.

    Parameters
    ----------
    x, y, **run
        As in `tanimoto_edges`.
    k : int
        Partners of each row, at least 1. Equal similarities go to the lower row.
    min_abs : float
        Partners have at least this similarity.

    Returns
    -------
    Partners
        Arrays of shape (rows, k), 16 bytes an entry.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `tanimoto_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rows = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=bool)
    >>> best = gs.tanimoto_partners(np.packbits(rows, axis=1), 1)
    >>> best.index.ravel(), best.statistic.ravel()
    (array([1, 0, 1]), array([0.75, 0.75, 0.2 ]))
    """
    k = integer("k", k)
    call = _call(x, y, run, min_abs)
    told = _core.tanimoto_partners(call.x, call.y, call.cols, k, call.options)
    return Partners(*told, _NAME, call.names, call.y_names)


def tanimoto_counts(
    x: Rows,
    y: Rows | None = None,
    *,
    min_abs: float = 0.0,
    bins: int = 0,
    **run: Unpack[TanimotoOptions],
) -> Counts:
    """How many pairs of rows of bits have a Tanimoto similarity from a cut on.

    Parameters
    ----------
    x, y, min_abs, **run
        As in `tanimoto_edges`.
    bins : int
        Bins of equal width over [-1, 1], as of all measures, for the histogram of the kept
        similarities, at most 65,536; 0: none.

    Returns
    -------
    Counts
        In all, of each row, and by similarity.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `tanimoto_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rows = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=bool)
    >>> got = gs.tanimoto_counts(rows, min_abs=0.2)
    >>> got.kept, got.degree
    (2, array([1, 2, 1]))
    """
    call = _call(x, y, run, min_abs)
    if bins:
        call.options["histogram_bins"] = integer("bins", bins)
    told = _core.tanimoto_counts(call.x, call.y, call.cols, call.options)
    return Counts(*told, _NAME, call.names, call.y_names)


def tanimoto(
    x: Rows,
    y: Rows | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    **run: Unpack[TanimotoOptions],
) -> Dense:
    """The matrix of Tanimoto (Jaccard) similarities of all rows of bits.

    Parameters
    ----------
    x, y, **run
        As in `tanimoto_edges`.
    dtype : {"float64", "float32"}
        Of the matrix; its memory is rows * rows values, or rows of x * rows of y.

    Returns
    -------
    Dense
        The matrix and the summary of the run. Its diagonal is 1, and 0 of empty rows.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `tanimoto_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rows = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=bool)
    >>> gs.tanimoto(rows).matrix
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.2 ],
           [0.  , 0.2 , 1.  ]])
    """
    call = _call(x, y, run)
    kind = np.dtype(dtype)
    if kind.char not in "df":
        raise ValueError(f"dtype: got {kind}, expected float64 or float32")
    compute = _core.tanimoto_dense_f64 if kind.char == "d" else _core.tanimoto_dense_f32
    matrix, summary = compute(call.x, call.y, call.cols, call.options)
    return Dense(matrix, summary, _NAME, call.names, call.y_names)


def _call(x: Rows, y: Rows | None, run: TanimotoOptions, min_abs: float = 0.0) -> _Call:
    """The words of the rows, their names, and the options that are not defaults."""
    options: dict[str, Any] = {**run}
    given, y_given = options.pop("names", None), options.pop("y_names", None)
    match = check_match(options.pop("match", "name"))
    if "progress" in options:
        options["progress"] = callback(options["progress"])
    if min_abs != 0.0:
        options["min_abs"] = min_abs
    for argument, rows in (("x", x), ("y", y)):
        if rows is not None and not isinstance(rows, Bits):
            check_labels(rows, argument, in_columns=False, axis_is_given=True)
    words, cols = _words(x, "x")
    names = names_of(given, _row_labels(x), "names", len(words))
    if y is None:
        if y_given is not None:
            raise ValueError("y_names: got names, expected None without y")
        return _Call(words, None, cols, options, names, None)
    y_words, y_cols = _words(_in_order_of(x, y, match), "y")
    if y_cols != cols:
        raise ValueError(f"y: got {y_cols} columns, expected the {cols} of x")
    y_names = names_of(y_given, _row_labels(y), "y_names", len(y_words))
    return _Call(words, y_words, cols, options, names, y_names)


def _in_order_of(x: Rows, y: Rows, match: Match) -> Rows:
    """y with its columns in the order of those of x that have the same labels."""
    if isinstance(x, Bits) or isinstance(y, Bits):
        return y
    order = order_of(observations_of(x, False), observations_of(y, False), "y", match)
    return y if order is None else np.asarray(y)[:, order]


def _row_labels(rows: Rows) -> Any:
    return None if isinstance(rows, Bits) else labels_of(rows)[0]


def _words(rows: Rows, argument: str) -> tuple[Array, int]:
    """Rows of bits as int32 words, and how many columns they have."""
    if isinstance(rows, Bits):
        if type(rows.words) is not np.ndarray:
            raise TypeError(f"{argument}: got bits in device memory, expected host memory")
        return np.ascontiguousarray(rows.words).view(np.int32), rows.shape[1]
    if type(rows) is not np.ndarray and _device.is_device_array(rows):
        raise TypeError(f"{argument}: got an array in device memory, expected host memory")
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
