"""The functions over all pairs of rows."""

from __future__ import annotations

import math
import warnings
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.edges import Edges
from .._results.results import Counts, Dense, Partners
from .._results.summary import PairPlan
from .._shared.messages import arguments_named, integer
from .._shared.options import Adjustment, Measure, PairRunOptions, Tail, measure_of
from .._tables.places import computed
from .call import EdgeOrder, PairCall, PreparedRows, pair_call, tested_observations
from .observations import shared_of_tables
from .stream import EdgeStream


def _warn_of_few_observations(measure: Measure, call: PairCall, stacklevel: int = 3) -> None:
    """Of few observations no p of ranks is small, whatever the cut on p."""
    options = call.options
    if measure != "spearman" or "max_p" not in options or options.get("p_method") == "t":
        return
    n = tested_observations(measure, call)
    if isinstance(n, int) and 3 <= n < 10:  # a float is not of columns: the test is t
        least = 2 / math.factorial(n)
        message = f"{n} observations: no p of ranks is below 2 / {n}! = {least:.3g}"
        warnings.warn(message, UserWarning, stacklevel=stacklevel)


def _edges(measure: Measure, max_edges: int | None, order: EdgeOrder, call: PairCall) -> Edges:
    _warn_of_few_observations(measure, call, stacklevel=4)
    options = call.options
    if max_edges is not None:
        options["max_edges"] = max_edges
    if order != "by-row-then-column":
        options["order"] = order
    pairwise = options.get("nans") == "pairwise"
    records, summary = computed(_core.edges, call.places, call.x, call.y, options)
    return Edges(records, summary, measure, call.names, call.y_names, pairwise)


def spearman_edges(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    max_edges: int | None = None,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> Edges:
    """Pairs of rows whose Spearman correlation passes a cut.

    Every decision to keep or drop a pair is exact: rho comes from integers, ties and all, and the
    CPU and CUDA give the same edges, bit for bit. Up to 9 columns p is counted over the
    permutations of a row where neither row has ties; else it is Student's t with columns - 2
    degrees of freedom, but never below what permutations allow, 2 / columns! without ties.
    scipy.stats.spearmanr is ``p_method="t"``. A cut on p of fewer than 10 columns gives a
    UserWarning with the least p. The matrix of all correlations is never made.

    Parameters
    ----------
    x : array_like, data frame or sparse matrix, shape (rows, columns)
        Rows are variables, columns are observations, unless `axis` says "columns"; at least 3
        observations. The index of a pandas data frame names the rows.
    y : array_like, shape (rows of y, columns), or PreparedRows, optional
        The pairs are then those of each row of x with each row of y, and no others. Where both
        label their observations, as data frames do, these are matched by label, see `match`.
    max_p : float
        Keep p <= max_p, after `adjust`; in (0, 1].
    min_abs : float
        Keep abs(rho) >= min_abs; in [0, 1]. Both cuts must hold; the defaults keep every pair.
    tail : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    adjust : {"none", "bonferroni", "benjamini-hochberg", "bh"}
        Correction of `max_p` for the number of pairs.
    max_edges : int, optional
        More edges than this raise CapacityExceeded, with the number needed.
    order : {"by-row-then-column", "unspecified"}
        Order of the edges.
    **run
        axis, match, nans, min_observations, covariates, weights, effective_observations, names,
        y_names, copy, part, fold, progress, backend, devices, workspace_bytes, cpu_threads,
        variant: see PairRunOptions and RunOptions.

    Returns
    -------
    Edges
        The kept pairs, with the summary of the run.

    Raises
    ------
    ValueError
        For fewer than 3 columns, a NaN (row and column are named) or an option out of range.
    TypeError
        For values that are no numbers; of a data frame the column and its dtype are named.
    CapacityExceeded
        Where `max_edges` does not suffice; `.needed` is the number of edges.
    MemoryError
        Where memory does not suffice.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> edges = gs.spearman_edges([[1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [5, 4, 3, 2, 1]], max_p=0.05)
    >>> edges
    Edges: 1 of 3 pairs of 3 rows, spearman, |rho| >= 1
      0 -- 2  -1.000000  p = 0.0167
    >>> edges.row, edges.col
    (array([0]), array([2]))
    """
    call = pair_call(x, y, "spearman", run, max_p, min_abs, tail, adjust)
    return _edges("spearman", max_edges, order, call)


def edges(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    max_edges: int | None = None,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> Edges:
    """Pairs of rows whose statistic passes a cut.

    Parameters
    ----------
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    x, y, max_p, min_abs, tail, adjust, max_edges, order, **run
        As in `spearman_edges`. A measure without a significance test takes no `max_p` and no
        `adjust`; its p are NaN. Rows of bits are booleans; octets of bits, uint8, as
        np.packbits(rows, axis=1) packs them, in either order; or what `pack_bits` made.

    Returns
    -------
    Edges
        The kept pairs, with the summary of the run.

    Raises
    ------
    ValueError, CapacityExceeded, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> table = [[1, 2, 3, 4], [2, 4, 6, 9], [1, 0, 0, 1]]
    >>> len(gs.edges(table, measure="pearson", min_abs=0.9))
    1
    >>> sets = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [0, 1, 0, 0, 1]], dtype=bool)
    >>> gs.edges(sets, measure="tanimoto", min_abs=0.5)
    Edges: 1 of 3 pairs of 3 rows, tanimoto, |tanimoto| >= 0.5
      0 -- 1  0.750000
    >>> gs.edges(sets, measure="tversky", alpha=1/3, beta=1/3, min_abs=0.5).statistic
    array([0.9])
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run, max_p, min_abs, tail, adjust)
    return _edges(measure, max_edges, order, call)


def pearson_edges(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    max_edges: int | None = None,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> Edges:
    """Pairs of rows whose Pearson correlation passes a cut.

    Every decision is that of r in double precision, whose order of summation is fixed and the
    same on every backend. A row with an infinite value has no statistic.

    Parameters
    ----------
    x, y, max_p, min_abs, tail, adjust, max_edges, order, **run
        As in `spearman_edges`.

    Returns
    -------
    Edges
        The kept pairs, with the summary of the run.

    Raises
    ------
    ValueError, CapacityExceeded, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.pearson_edges([[1, 2, 3, 4], [2, 4, 6, 9], [1, 0, 0, 1]], min_abs=0.9, names=list("abc"))
    Edges: 1 of 3 pairs of 3 rows, pearson, |r| >= 0.9
      a -- b  0.994377  p = 0.00562
    """
    call = pair_call(x, y, "pearson", run, max_p, min_abs, tail, adjust)
    return _edges("pearson", max_edges, order, call)


def top_k_partners(
    x: npt.ArrayLike,
    k: int,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    order: Literal["by-absolute-value", "by-value"] = "by-absolute-value",
    q: bool = False,
    **run: Unpack[PairRunOptions],
) -> Partners:
    """The best k partners of every row among the pairs that pass a cut.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Rows are variables, columns are observations.
    k : int
        At least 1. Ties go to the lowest partner.
    y : array_like, shape (rows of y, columns), optional
        The partners of the rows of x are then rows of y.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    order : {"by-absolute-value", "by-value"}
        What "best" means: the largest magnitude, or the largest statistic (with tail="less": the
        smallest). With a one-sided tail all partners have its sign.
    q : bool
        True computes `Partners.q`, the exact adjusted p of each partner among all tested pairs, by
        `adjust`. "benjamini-hochberg" takes one more pass over the pairs and holds the p of every
        pair that passes `max_p`, 8 bytes each, whatever `min_abs` and `k` leave out, and 16 bytes
        an entry: at most `workspace_bytes`, or without that half of the host's memory.
    max_p, min_abs, tail, adjust, **run
        As in `spearman_edges`.

    Returns
    -------
    Partners
        Arrays of shape (rows, k), 16 bytes an entry, with q 24.

    Raises
    ------
    ValueError, MemoryError
        As `spearman_edges`; ValueError for `q` without an adjustment, MemoryError where its p do
        not fit, with their number: a smaller `max_p` keeps fewer.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> best = gs.top_k_partners([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]], 1)
    >>> best.index.ravel(), best.statistic.ravel()
    (array([2, 0, 0]), array([-1. ,  0.8, -1. ]))
    """
    measure = measure_of(measure)
    k = integer("k", k)
    call = pair_call(x, y, measure, run, max_p, min_abs, tail, adjust)
    if order != "by-absolute-value":
        call.options["order"] = order
    if q:
        call.options["q"] = "exact"
    _warn_of_few_observations(measure, call)
    pairwise = call.options.get("nans") == "pairwise"
    index, statistic, count, tied_p, exact_q, summary = computed(
        _core.partners, call.places, call.x, call.y, k, call.options
    )
    best = Partners(index, statistic, count, summary, measure, call.names, call.y_names)
    best._p = tied_p
    if q:
        best.q, best._q_of = exact_q, adjust
    if pairwise:
        row, column = np.nonzero(np.arange(index.shape[1]) < count[:, None])
        shared = np.full(index.shape, call.cols, dtype=np.int64)
        begin = best.summary.part_begin
        partner = best.index[row, column]
        shared[row, column] = shared_of_tables(call.x, call.y, row + begin, partner)
        best._observations = shared
    return best


def counts(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    bins: int = 0,
    **run: Unpack[PairRunOptions],
) -> Counts:
    """How many pairs pass a cut: in all, of each row, and by statistic.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Rows are variables, columns are observations.
    y : array_like, shape (rows of y, columns), optional
        The pairs are then those of each row of x with each row of y.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    bins : int
        Bins of equal width over [-1, 1] for the histogram of the kept statistics, at most 65,536;
        0: none.
    max_p, min_abs, tail, adjust, **run
        As in `spearman_edges`.

    Returns
    -------
    Counts
        Memory: 8 bytes a row and 8 bytes a bin, however many pairs are kept.

    Raises
    ------
    ValueError, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> got = gs.counts([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]], min_abs=0.8, bins=4)
    >>> got.kept, got.degree, got.histogram
    (3, array([2, 2, 2]), array([2, 0, 0, 1]))
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run, max_p, min_abs, tail, adjust)
    _warn_of_few_observations(measure, call)
    if bins:
        call.options["histogram_bins"] = integer("bins", bins)
    told = computed(_core.counts, call.places, call.x, call.y, call.options)
    return Counts(*told, measure, call.names, call.y_names)


def dense(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    dtype: npt.DTypeLike = "float64",
    **run: Unpack[PairRunOptions],
) -> Dense:
    """The full matrix of correlations of all rows.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Rows are variables, columns are observations.
    y : array_like, shape (rows of y, columns), optional
        The matrix is then that of the rows of x against those of y.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits. In float32 those of values
        (Pearson, cosine) have float32-level error at most.
    dtype : {"float64", "float32"}
        Of the matrix; its memory is rows * rows values, or rows of x * rows of y.
    **run
        As in `spearman_edges`.

    Returns
    -------
    Dense
        The matrix and the summary of the run.

    Raises
    ------
    ValueError, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.dense([[1, 2, 3, 4], [1, 2, 4, 3]]).matrix
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run)
    kind = np.dtype(dtype)
    if kind.char not in "df":
        raise ValueError(f"dtype: got {kind}, expected float64 or float32")
    compute = _core.dense_f64 if kind.char == "d" else _core.dense_f32
    matrix, summary = computed(compute, call.places, call.x, call.y, call.options)
    return Dense(matrix, summary, measure, call.names, call.y_names)


def stream(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    batch_edges: int = 1 << 20,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> EdgeStream:
    """The pairs that pass a cut, in batches, for results larger than memory.

    Parameters
    ----------
    x, y : array_like
        As in `spearman_edges`; not to be changed before the stream ends.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    batch_edges : int
        Largest batch.
    order : {"by-row-then-column", "unspecified"}
        Order over all batches.
    max_p, min_abs, tail, adjust, **run
        As in `spearman_edges`. A function given as `progress` is called on another thread.

    Returns
    -------
    EdgeStream
        An iterator of Edges that can be left at any batch.

    Raises
    ------
    ValueError
        As `spearman_edges`; what goes wrong during the run is raised by the iterator.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> rows = [[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]]
    >>> with gs.stream(rows, min_abs=0.9, batch_edges=1) as batches:
    ...     for edges in batches:
    ...         print(edges.row, edges.col, edges.statistic)
    [0] [2] [-1.]
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run, max_p, min_abs, tail, adjust)
    call.options["batch_edges"] = batch_edges
    if order != "by-row-then-column":
        call.options["order"] = order
    return EdgeStream(call, measure)


def plan(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    **run: Unpack[PairRunOptions],
) -> PairPlan:
    """What a call over all pairs would run, and how many pairs it would keep.

    The estimate is that of all pairs of a sample of at most 2048 rows.

    Parameters
    ----------
    x, y : array_like
        As in `spearman_edges`.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    max_p, min_abs, tail, adjust, **run
        As in `spearman_edges`.

    Returns
    -------
    PairPlan
        Backend, variant, workspace, and the estimated size of the result.

    Raises
    ------
    ValueError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> expected = gs.plan([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]], min_abs=0.9, backend="cpu")
    >>> expected.pairs, expected.kept_estimate, expected.backend
    (3, 1.0, 'cpu')
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run, max_p, min_abs, tail, adjust)
    return PairPlan._make(computed(_core.plan, call.places, call.x, call.y, call.options))


def prepare(
    y: npt.ArrayLike, *, measure: Measure = "spearman", **run: Unpack[PairRunOptions]
) -> PreparedRows:
    """Prepares the rows of a table for many calls as their `y`: no upload and no ranking again.

    The rows stay where the calls run, on the device or on the host, as long as the answer lives.

    Parameters
    ----------
    y : array_like, shape (rows, columns)
        Rows are variables, columns are observations; not needed afterwards.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`, or of `BIT_MEASURES` for rows
        of bits.
    **run
        axis, nans, names, copy, progress, backend, devices (one), workspace_bytes, variant: see
        PairRunOptions and RunOptions. The calls take the same backend, device and variant.

    Returns
    -------
    PreparedRows
        What `spearman_edges`, `top_k_partners` and the others take as `y`.

    Raises
    ------
    ValueError, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> library = gs.prepare([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]])
    >>> best = gs.top_k_partners([[2, 4, 5, 9]], 1, library)
    >>> best.index, best.statistic
    (array([[0]]), array([[1.]]))
    """
    measure = measure_of(measure)
    with arguments_named(x="y"):
        call = pair_call(y, None, measure, run)
        prepared = computed(_core.prepare, call.places, call.x, call.options)
        observations = tested_observations(measure, call)
        return PreparedRows(prepared, measure, call.names, observations, call.labels)
