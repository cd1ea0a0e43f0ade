"""The functions of each row: ranks, filters, the best values."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.messages import integer
from .._shared.options import NanPolicy, RunOptions
from .._tables import device_memory as _device
from .._tables.arrays import doubles, host_array, plain_array
from .._tables.numbers import Array

Boundary = Literal["zero", "reflect", "nearest", "mirror", "wrap", "shrink", "valid"]


class TopK(NamedTuple):
    """The best values and their positions, best first, along the last axis."""

    values: Any
    indices: Any


class TopKDistinct(NamedTuple):
    """The best distinct values, with first position and number of occurrences.

    Of a vector on the host all have `found` entries. Of a matrix, behind the `found[i]` entries of
    row i values are 0, indices -1 and counts 0; so it is of a vector in the memory of a GPU, whose
    `found` is an array of one element, because nothing waits for it.
    """

    values: Any
    indices: Any
    counts: Any
    found: Any


def rank(
    x: npt.ArrayLike,
    *,
    ties: Literal["average", "min", "max", "dense", "ordinal"] = "average",
    order: Literal["ascending", "descending"] = "ascending",
    nans: NanPolicy = "reject",
    copy: bool | None = None,
    **run: Unpack[RunOptions],
) -> Any:
    """Ranks along the last axis, from 1, as scipy.stats.rankdata(x, ties, axis=-1).

    Parameters
    ----------
    x : array_like, shape (columns,) or (rows, columns)
        Values; an array in the memory of a GPU is ranked there, on its current stream.
    ties : {"average", "min", "max", "dense", "ordinal"}
        The rank of equal values.
    order : {"ascending", "descending"}
        Which end has rank 1.
    nans : {"reject", "propagate"}
        "propagate" makes every rank of a row that holds a NaN NaN. On a GPU, always.
    copy : bool, optional
        False raises ValueError where `x` cannot be read in place.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    ndarray of float64, of the shape of `x`
        The ranks; for a device array, one of the same library.

    Raises
    ------
    ValueError
        For a NaN with nans="reject": row and column are named.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.rank([10, 20, 20, 5])
    array([2. , 3.5, 3.5, 1. ])
    """
    options: dict[str, Any] = dict(run)
    if ties != "average":
        options["ties"] = ties
    if order != "ascending":
        options["order"] = order
    if nans != "reject":
        options["nans"] = nans
    if type(x) is not np.ndarray and _device.is_device_array(x):
        data = _device.DeviceArray(x, "x")
        out = data.empty(data.shape, np.float64)
        for some, block in data.blocks():
            ranks = out if block is data else _device.DeviceArray(out.array[some], "out")
            _core.rank_device(block.read(), ranks.describe(), data.options(options))
        return out.array
    return _core.rank(host_array(x, "x", copy=copy, ordinal=True, any_layout=True), options)


def mean_filter(
    x: npt.ArrayLike,
    window: int,
    *,
    origin: int = 0,
    boundary: Boundary = "reflect",
    nans: Literal["propagate", "omit"] = "propagate",
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = None,
    **run: Unpack[RunOptions],
) -> Any:
    """Moving mean along the last axis.

    Every output depends on its own window alone: an Inf, a NaN or a 1e17 changes the outputs
    whose window holds it and no others.

    Parameters
    ----------
    x : array_like, shape (columns,) or (rows, columns)
        Values; an array in the memory of a GPU is filtered there, on its current stream.
    window : int
        Elements of a window; up to 511, or less than twice the row. "zero" and "shrink" have no
        limit.
    origin : int
        Shift of the windows, as in scipy.ndimage.uniform_filter1d.
    boundary : {"reflect", "zero", "nearest", "mirror", "wrap", "shrink", "valid"}
        What stands beyond the ends of a row. "zero" is SciPy's "constant"; "shrink" divides by
        what the window holds; "valid" takes windows inside the row alone.
    nans : {"propagate", "omit"}
        "omit" takes NaN as absent.
    dtype : dtype, optional
        float64 for means of integers that are not truncated; default: as the input.
    copy : bool, optional
        False raises ValueError where `x` cannot be read in place.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    ndarray, of the shape of `x`, or window - 1 shorter for "valid"
        Means in the type of `x` (integers truncate toward zero, as SciPy's), or float64.

    Raises
    ------
    ValueError
        For a window or an origin out of range.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.mean_filter([1.0, 2.0, 6.0, 2.0], 3, boundary="shrink")
    array([1.5       , 3.        , 3.33333333, 4.        ])
    """
    window = integer("window", window)
    options: dict[str, Any] = {**run, "boundary": boundary}
    if origin != 0:
        options["origin"] = origin
    if nans != "propagate":
        options["nans"] = nans
    if type(x) is not np.ndarray and _device.is_device_array(x):
        data = _device.DeviceArray(x, "x")
        out = _filtered_like(data, window, boundary, dtype)
        _core.mean_filter_device(data.read(), window, out.describe(), data.options(options))
        return out.array
    values, kind, to_double = _filter_input(x, dtype, copy)
    means: Array = _core.mean_filter(values, window, to_double, options)
    return means if means.dtype == kind else means.astype(kind)


def convolve(
    x: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    origin: int = 0,
    boundary: Literal["reflect", "zero", "nearest", "mirror", "wrap", "valid"] = "reflect",
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = None,
    **run: Unpack[RunOptions],
) -> Any:
    """Convolution with a small kernel along the last axis, as scipy.ndimage.convolve1d.

    Parameters
    ----------
    x : array_like, shape (columns,) or (rows, columns)
        Values; an array in the memory of a GPU is filtered there, on its current stream.
    weights : array_like, shape (n,)
        The kernel, on the host, 1 to 256 values.
    origin, boundary, dtype, copy, **run
        As in `mean_filter`, without "shrink".

    Returns
    -------
    ndarray
        In the type of `x` (integers truncate and saturate), or float64.

    Raises
    ------
    ValueError
        For no weights, more than 256, or an origin out of range.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.convolve([1.0, 2.0, 3.0, 4.0], [1, 0, -1], boundary="nearest")
    array([1., 2., 2., 1.])
    """
    kernel = doubles(weights, "weights")
    if kernel.ndim != 1:
        raise ValueError(f"weights: got {kernel.ndim} dimensions, expected 1")
    options: dict[str, Any] = {**run, "origin": origin, "boundary": boundary}
    if type(x) is not np.ndarray and _device.is_device_array(x):
        data = _device.DeviceArray(x, "x")
        out = _filtered_like(data, kernel.size, boundary, dtype)
        _core.convolve_device(data.read(), kernel, out.describe(), data.options(options))
        return out.array
    values, kind, to_double = _filter_input(x, dtype, copy)
    sums: Array = _core.convolve(values, kernel, to_double, options)
    return sums if sums.dtype == kind else sums.astype(kind)


def top_k(
    x: npt.ArrayLike,
    k: int,
    *,
    select: Literal["largest", "smallest"] = "largest",
    order: Literal["sorted", "unsorted"] = "sorted",
    copy: bool | None = None,
    **run: Unpack[RunOptions],
) -> TopK:
    """The k largest or smallest values along the last axis, with their positions.

    Better values first, equal values by lowest index, NaN behind everything.

    Parameters
    ----------
    x : array_like, shape (n,) or (rows, n)
        Values; an array in the memory of a GPU is searched there, on its current stream.
    k : int
        At least 1; more than n gives n entries.
    select : {"largest", "smallest"}
        Which end.
    order : {"sorted", "unsorted"}
        "unsorted" gives the same entries and saves the sort.
    copy : bool, optional
        False raises ValueError where `x` cannot be read in place.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    TopK
        `values`, in the type of `x`, and `indices`, int64.

    Raises
    ------
    ValueError
        For k < 1.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.top_k([5, 9, 9, 1], 2)
    TopK(values=array([9, 9]), indices=array([1, 2]))
    """
    k = integer("k", k)
    options: dict[str, Any] = dict(run)
    if select != "largest":
        options["select"] = select
    if order != "sorted":
        options["order"] = order
    if type(x) is not np.ndarray and _device.is_device_array(x):
        return _top_k_device(_device.DeviceArray(x, "x"), k, options)
    given = plain_array(x, "x", copy=copy, ordinal=True)
    values, indices = _core.top_k(host_array(given, "x", copy=copy, ordinal=True), k, options)
    return TopK(_in_type_of(given, values, indices), indices)


def top_k_distinct(
    x: npt.ArrayLike,
    k: int,
    *,
    select: Literal["largest", "smallest"] = "largest",
    copy: bool | None = None,
    **run: Unpack[RunOptions],
) -> TopKDistinct:
    """The k best of the distinct values along the last axis.

    As numpy.unique with return_index and return_counts, cut to its last (or first) k.

    Parameters
    ----------
    x : array_like, shape (n,) or (rows, n)
        Values; an array in the memory of a GPU is searched there, on its current stream.
    k : int
        At least 1; fewer distinct values give all of them.
    select : {"largest", "smallest"}
        Which end.
    copy : bool, optional
        False raises ValueError where `x` cannot be read in place.
    **run
        backend, devices, workspace_bytes, cpu_threads, variant: see RunOptions.

    Returns
    -------
    TopKDistinct
        `values`, `indices` of their first occurrences, `counts`, and the number `found`.

    Raises
    ------
    ValueError
        For k < 1.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> got = gs.top_k_distinct([5, 9, 9, 1], 2)
    >>> got.values, got.indices, got.counts
    (array([9, 5]), array([1, 0]), array([2, 1]))
    """
    k = integer("k", k)
    options: dict[str, Any] = {**run, "select": select}
    if type(x) is not np.ndarray and _device.is_device_array(x):
        return _top_k_distinct_device(_device.DeviceArray(x, "x"), k, options)
    given = plain_array(x, "x", copy=copy, ordinal=True)
    values, indices, counts, found = _core.top_k_distinct(
        host_array(given, "x", copy=copy, ordinal=True), k, options
    )
    return TopKDistinct(_in_type_of(given, values, indices), indices, counts, found)


def _in_type_of(given: Array, values: Array, indices: Array) -> Array:
    """`values` with the elements of `given`, where the library worked on another type."""
    if values.dtype == given.dtype:
        return values
    taken = np.take_along_axis(given, np.maximum(indices, 0), axis=-1)
    return np.where(indices < 0, np.zeros((), given.dtype), taken)


def _filter_input(
    x: Any, dtype: npt.DTypeLike | None, copy: bool | None
) -> tuple[Array, np.dtype[Any], bool]:
    """The values, the type of the result, and whether the library gives doubles."""
    values = host_array(x, "x", copy=copy)
    given = x.dtype if isinstance(x, np.ndarray) else values.dtype
    kind = np.dtype(given if dtype is None else dtype)
    if kind != given and kind != np.float64:
        raise ValueError(f"dtype: got {kind}, expected {given} or float64")
    return values, kind, kind == np.float64


def _filtered_like(
    data: _device.DeviceArray, window: int, boundary: str, dtype: npt.DTypeLike | None
) -> _device.DeviceArray:
    cols = _core.filtered_size(data.shape[-1], window, boundary)
    return data.empty((*data.shape[:-1], cols), data.dtype if dtype is None else dtype)


def _top_k_device(data: _device.DeviceArray, k: int, options: dict[str, Any]) -> TopK:
    entries = min(k, data.shape[-1])
    shape = (*data.shape[:-1], max(entries, 0))
    values, indices = data.empty(shape, data.dtype), data.empty(shape, np.int64)
    _core.top_k_device(data.read(), k, values.describe(), indices.describe(), data.options(options))
    return TopK(values.array, indices.array)


def _top_k_distinct_device(
    data: _device.DeviceArray, k: int, options: dict[str, Any]
) -> TopKDistinct:
    shape = (*data.shape[:-1], max(min(k, data.shape[-1]), 0))
    values = data.empty(shape, data.dtype)
    indices, counts = data.empty(shape, np.int64), data.empty(shape, np.int64)
    found = data.empty((data.shape[0] if len(data.shape) == 2 else 1,), np.int64)
    _core.top_k_distinct_device(
        data.read(),
        k,
        values.describe(),
        indices.describe(),
        counts.describe(),
        found.describe(),
        data.options(options),
    )
    return TopKDistinct(values.array, indices.array, counts.array, found.array)
