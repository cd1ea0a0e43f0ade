"""All pairs of arrays in the memory of a GPU, with results there.

The functions read arrays of CuPy or PyTorch (of others by DLPack), of any type of numbers and in
any layout, and give arrays of the same library on the same device. They work on the current stream
and do not wait: what is put on that stream behind them finds the result. Each pair is decided as
for a result on the host, to the same bits. Rows that hold a NaN have no statistic: values cannot be
inspected without waiting. With adjust="bonferroni", and for int64 and uint64, a call waits once for
the stream; "benjamini-hochberg" is Unsupported.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from . import _core
from ._pairs.call import device_call
from ._shared.messages import integer
from ._shared.options import Adjustment, Axis, Measure, Tail, measure_of
from ._tables.device_memory import DeviceArray

__all__ = [
    "DeviceCounts",
    "DeviceEdges",
    "DevicePartners",
    "DeviceRunOptions",
    "counts",
    "dense",
    "edges",
    "top_k_partners",
]


class DeviceRunOptions(TypedDict, total=False):
    """Keywords of the functions of this module.

    Attributes
    ----------
    max_p, min_abs : float
        The cuts, as in `gpu_similarity.spearman_edges`; 1 and 0 where not given.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    adjust : {"none", "bonferroni"}
        Correction of `max_p` for the number of pairs.
    workspace_bytes : int
        Upper bound on scratch memory.
    variant : str
        Name of the implementation; "automatic" chooses.
    axis : {0, "rows", 1, "columns"}
        Where the variables of x and y are: rows by default.
    """

    max_p: float
    min_abs: float
    tail: Tail
    adjust: Adjustment
    workspace_bytes: int
    variant: str
    axis: Axis


class DevicePartners(NamedTuple):
    """The best partners of every row, as `gpu_similarity.Partners` has them.

    Attributes
    ----------
    index : array [rows, k]
        uint32, of PyTorch int32; 4294967295 (-1) behind the last.
    statistic : array of float64 [rows, k]
        NaN behind the last.
    count : array [rows]
        uint32, of PyTorch int32.
    """

    index: Any
    statistic: Any
    count: Any


class DeviceCounts(NamedTuple):
    """How many pairs passed a cut, as `gpu_similarity.Counts` has it.

    Attributes
    ----------
    degree : array [rows]
        uint32, of PyTorch int32.
    y_degree : array [rows of y], or None
        Of x against y.
    histogram : array of int64 [bins], or None
        Kept pairs by statistic.
    totals : array of int64 [3]
        Pairs that have a statistic, those that were kept, and rows without a statistic.
    """

    degree: Any
    y_degree: Any
    histogram: Any
    totals: Any


class DeviceEdges(NamedTuple):
    """Edges in ascending (row, col), with room for `capacity` of them.

    Attributes
    ----------
    row, col : array [capacity]
        uint32, of PyTorch int32: every sixth word of one array.
    statistic, p : array of float64 [capacity]
        Every third element of the same array.
    found : array of int64 [1]
        How many edges there are: behind them, and behind `capacity`, nothing was written.
    """

    row: Any
    col: Any
    statistic: Any
    p: Any
    found: Any


def dense(
    x: Any,
    y: Any = None,
    *,
    measure: Measure = "spearman",
    dtype: npt.DTypeLike = "float64",
    **run: Unpack[DeviceRunOptions],
) -> Any:
    """The full matrix of correlations: see `gpu_similarity.dense`.

    Parameters
    ----------
    x, y : device array, shape (rows, columns)
        Rows are variables; with `y` the rows of x against those of y.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    dtype : {"float64", "float32"}
        Of the matrix.
    **run
        See DeviceRunOptions; no cut applies.

    Returns
    -------
    device array, shape (rows, rows) or (rows of x, rows of y)
        NaN for rows without a statistic.

    Raises
    ------
    TypeError, ValueError
        For an array on the host, and as `gpu_similarity.dense`.
    """
    measure = measure_of(measure)
    kind = np.dtype(dtype)
    if kind.char not in "df":
        raise ValueError(f"dtype: got {kind}, expected float64 or float32")
    call, data = device_call(x, y, measure, run)
    out = data.empty((call.rows, call.rows if call.y_rows is None else call.y_rows), kind)
    compute = _core.dense_device_f64 if kind.char == "d" else _core.dense_device_f32
    compute(call.x, call.y, out.describe(), call.options)
    return out.array


def top_k_partners(
    x: Any,
    k: int,
    y: Any = None,
    *,
    measure: Measure = "spearman",
    order: Literal["by-absolute-value", "by-value"] = "by-absolute-value",
    **run: Unpack[DeviceRunOptions],
) -> DevicePartners:
    """The best k partners of every row: see `gpu_similarity.top_k_partners`.

    Parameters
    ----------
    x, y : device array, shape (rows, columns)
        Rows are variables; with `y` the partners are its rows.
    k : int
        At least 1.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    order : {"by-absolute-value", "by-value"}
        What "best" means: the largest magnitude, or the largest statistic (with tail="less": the
        smallest). With a one-sided tail all partners have its sign.
    **run
        See DeviceRunOptions.

    Returns
    -------
    DevicePartners
        Arrays of shape (rows, k).

    Raises
    ------
    TypeError, ValueError
        As `dense`, and for k < 1.
    """
    measure = measure_of(measure)
    call, data = device_call(x, y, measure, run)
    k = integer("k", k)
    if k < 1:
        raise ValueError(f"k: got {k}, expected at least 1")
    index, count = _words(data, (call.rows, k)), _words(data, (call.rows,))
    statistic = data.empty((call.rows, k), np.float64)
    call.options["order"] = order
    _core.partners_device(
        call.x, call.y, index.describe(), statistic.describe(), count.describe(), call.options
    )
    return DevicePartners(index.array, statistic.array, count.array)


def counts(
    x: Any,
    y: Any = None,
    *,
    measure: Measure = "spearman",
    bins: int = 0,
    **run: Unpack[DeviceRunOptions],
) -> DeviceCounts:
    """How many pairs pass a cut: see `gpu_similarity.counts`.

    Parameters
    ----------
    x, y : device array, shape (rows, columns)
        Rows are variables; with `y` the rows of x against those of y.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    bins : int
        Of the histogram, at most 65,536; 0: none.
    **run
        See DeviceRunOptions.

    Returns
    -------
    DeviceCounts
        Degrees, histogram and totals.

    Raises
    ------
    TypeError, ValueError
        As `dense`.
    """
    measure = measure_of(measure)
    call, data = device_call(x, y, measure, run)
    bins = integer("bins", bins)
    if bins < 0:
        raise ValueError(f"bins: got {bins}, expected at least 0")
    degree = _words(data, (call.rows,))
    y_degree = None if call.y_rows is None else _words(data, (call.y_rows,))
    histogram = data.empty((bins,), np.int64) if bins else None
    totals = data.empty((3,), np.int64)
    _core.counts_device(
        call.x,
        call.y,
        degree.describe(),
        None if y_degree is None else y_degree.describe(),
        None if histogram is None else histogram.describe(),
        totals.describe(),
        call.options,
    )
    return DeviceCounts(
        degree.array,
        None if y_degree is None else y_degree.array,
        None if histogram is None else histogram.array,
        totals.array,
    )


def edges(
    x: Any,
    y: Any = None,
    *,
    capacity: int,
    measure: Measure = "spearman",
    **run: Unpack[DeviceRunOptions],
) -> DeviceEdges:
    """The pairs that pass a cut: see `gpu_similarity.spearman_edges`.

    Parameters
    ----------
    x, y : device array, shape (rows, columns)
        Rows are variables; with `y` the rows of x against those of y.
    capacity : int
        Room for how many edges, 24 bytes each; `gpu_similarity.plan` estimates how many there are.
        The first `capacity` are written where there are more.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    **run
        See DeviceRunOptions.

    Returns
    -------
    DeviceEdges
        `found` says how many edges there are.

    Raises
    ------
    TypeError, ValueError
        As `dense`, and for a capacity below 1.
    """
    measure = measure_of(measure)
    call, data = device_call(x, y, measure, run)
    capacity = integer("capacity", capacity)
    if capacity < 1:
        raise ValueError(f"capacity: got {capacity}, expected at least 1")
    records, found = data.empty((capacity, 3), np.int64), data.empty((1,), np.int64)
    _core.edges_device(call.x, call.y, records.describe(), found.describe(), call.options)
    ends = data.view(records.array, np.int32 if data.torch else np.uint32)
    values = data.view(records.array, np.float64)
    return DeviceEdges(ends[:, 0], ends[:, 1], values[:, 1], values[:, 2], found.array)


def _words(data: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
    """32-bit words: PyTorch has few functions of unsigned ones."""
    return data.empty(shape, np.int32 if data.torch else np.uint32)
