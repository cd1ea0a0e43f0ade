"""Edges between patterns: what rows of equal ranks share, without writing out the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.edges import EDGE_DTYPE, Edges
from .._results.records import PairRecords
from .._shared.options import Adjustment, PairRunOptions, Tail
from .._tables.places import computed
from .call import EdgeOrder, PairCall, pair_call
from .stream import BatchStream

if TYPE_CHECKING:
    import pandas

_FIELDS = ("first", "second", "statistic", "p", "pairs")


class Patterns(NamedTuple):
    """The distinct rank vectors of a table, and the rows that have each of them.

    Attributes
    ----------
    pattern_of : ndarray of int64, shape (rows,)
        The pattern of each row; 4294967295 for a row without a statistic.
    begin : ndarray of int64, shape (patterns + 1,)
        Where the rows of each pattern begin in `members`.
    members : ndarray of int64
        The rows that have a statistic, pattern by pattern, ascending within each.
    """

    pattern_of: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of patterns."""
        return len(self.begin) - 1

    def members_of(self, pattern: int) -> npt.NDArray[np.int64]:
        """The rows of a pattern, ascending; a view."""
        return self.members[self.begin[pattern] : self.begin[pattern + 1]]

    def __repr__(self) -> str:
        return f"Patterns: {self.size:,} of {len(self.members):,} rows"


class FoldedEdges(PairRecords):
    """The kept pairs of rows as edges between the patterns of their ranks.

    An edge of patterns p < q stands for every row of p with every row of q, one of p with itself
    for every two rows of p.

    Attributes
    ----------
    records : ndarray of records, shape (edges,)
        Fields first, second (uint32, patterns), statistic, p (float64) and pairs (uint64): how many
        pairs of rows the edge stands for.
    first, second, pairs : ndarray of int64, shape (edges,)
        Copies of these fields, as `Edges` has row and col.
    statistic, p : ndarray of float64, shape (edges,)
        Views of these fields.
    patterns : Patterns
        The rows of each pattern.
    names, measure, summary
        As `Edges` has them; `summary.pairs_kept` counts pairs of rows.
    """

    __slots__ = ("patterns",)

    def __init__(self, records: npt.NDArray[Any], patterns: Patterns, *common: Any) -> None:
        self.patterns = patterns
        self.records = records
        self._common = common

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """The smaller pattern of each edge."""
        return self.records["first"].astype(np.int64)

    @property
    def second(self) -> npt.NDArray[np.int64]:
        """The larger pattern of each edge, or the same: the pairs within it."""
        return self.records["second"].astype(np.int64)

    @property
    def pairs(self) -> npt.NDArray[np.int64]:
        """How many pairs of rows each edge stands for."""
        return self.records["pairs"].astype(np.int64)

    def _head(self) -> str:
        return (
            f"FoldedEdges: {len(self):,} between {self.patterns.size:,} patterns, for "
            f"{int(self.pairs.sum()):,} of {self.summary.pairs_tested:,} pairs of "
            f"{self.summary.shape()}, {self.summary.cut(self.symbol)}"
        )

    def _line(self, record: Any) -> str:
        return (
            f"pattern {record['first']} -- {record['second']}  {record['statistic']:.6f}  "
            f"p = {record['p']:.3g}, {record['pairs']:,} pairs"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with the columns first, second, statistic, p, pairs."""
        import pandas

        return pandas.DataFrame({name: getattr(self, name) for name in _FIELDS})

    def unfold(self) -> Edges:
        """The edges of all rows, as `spearman_edges` gives them: 24 bytes for each pair."""
        begin = self.patterns.begin
        sizes = np.diff(begin)
        first, second = self.first, self.second
        # A line for each row of the first pattern of an edge: that row with those of the second,
        # within one pattern with the later ones.
        edge, place = _runs(sizes[first])
        begin_of_line = np.where(first[edge] == second[edge], place + 1, 0)
        line, offset = _runs(sizes[second[edge]] - begin_of_line)
        of = edge[line]
        row = self.patterns.members[begin[first[of]] + place[line]]
        col = self.patterns.members[begin[second[of]] + begin_of_line[line] + offset]
        records = np.empty(len(row), EDGE_DTYPE)
        records["row"] = np.minimum(row, col)
        records["col"] = np.maximum(row, col)
        records["statistic"] = self.statistic[of]
        records["p"] = self.p[of]
        records = records[np.lexsort((records["col"], records["row"]))]
        return Edges(records, *self._common)


class FoldedStream(BatchStream[FoldedEdges]):
    """An iterator over batches of folded edges, as `folded_stream` gives it; see `EdgeStream`.

    Attributes
    ----------
    names : ndarray or None
        Names of the rows.
    patterns : Patterns or None
        The patterns of all batches, from the first one on.
    summary : PairSummary or None
        What the run did, once the last batch was read.
    """

    def __init__(self, call: PairCall) -> None:
        super().__init__(
            computed(_core.FoldedStream, call.places, call.x, None, call.options), call
        )
        self._patterns: Patterns | None = None

    @property
    def patterns(self) -> Patterns | None:
        """The patterns of all batches, from the first one on."""
        if self._patterns is None:
            fields = self._stream.patterns()
            self._patterns = None if fields is None else _patterns(fields)
        return self._patterns

    def _batch(self, records: npt.NDArray[Any]) -> FoldedEdges:
        patterns = self.patterns
        assert patterns is not None, "the library hands over patterns before the first batch"
        return FoldedEdges(records, patterns, self._running, "spearman", self.names, None)


def folded_edges(
    x: npt.ArrayLike,
    *,
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    max_edges: int | None = None,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> FoldedEdges:
    """The pairs of `spearman_edges` as edges between rows of equal ranks.

    Where many rows have equal ranks, as short or tied ones do, the edges of the rows can be orders
    of magnitude more than those of their patterns.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Rows are variables, columns are observations.
    max_edges : int, optional
        More folded edges than this raise CapacityExceeded.
    max_p, min_abs, tail, adjust, order, **run
        As in `spearman_edges`.

    Returns
    -------
    FoldedEdges
        32 bytes an edge, with the patterns; `.unfold()` gives the edges of the rows.

    Raises
    ------
    ValueError, CapacityExceeded, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> rows = [[1, 2, 3, 4], [10, 20, 30, 40], [1, 2, 4, 3], [4, 3, 2, 1]]
    >>> folded = gs.folded_edges(rows, min_abs=0.9)
    >>> folded
    FoldedEdges: 2 between 3 patterns, for 3 of 6 pairs of 4 rows, |rho| >= 0.9
      pattern 0 -- 0  1.000000  p = 0.0833, 1 pairs
      pattern 0 -- 2  -1.000000  p = 0.0833, 2 pairs
    >>> len(folded.unfold())
    3
    """
    call = pair_call(x, None, "spearman", run, max_p, min_abs, tail, adjust)
    if max_edges is not None:
        call.options["max_edges"] = max_edges
    if order != "by-row-then-column":
        call.options["order"] = order
    records, patterns, summary = computed(_core.folded_edges, call.places, call.x, call.options)
    return FoldedEdges(records, _patterns(patterns), summary, "spearman", call.names, None)


def folded_stream(
    x: npt.ArrayLike,
    *,
    max_p: float = 1.0,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    batch_edges: int = 1 << 20,
    order: EdgeOrder = "by-row-then-column",
    **run: Unpack[PairRunOptions],
) -> FoldedStream:
    """The folded edges in batches.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Rows are variables, columns are observations; not to be changed before the stream ends.
    batch_edges : int
        Largest batch.
    max_p, min_abs, tail, adjust, order, **run
        As in `stream`.

    Returns
    -------
    FoldedStream
        An iterator of FoldedEdges that can be left at any batch.

    Raises
    ------
    ValueError
        As `stream`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> rows = [[1, 2, 3, 4], [10, 20, 30, 40], [1, 2, 4, 3], [4, 3, 2, 1]]
    >>> with gs.folded_stream(rows, min_abs=0.9, batch_edges=1) as batches:
    ...     for folded in batches:
    ...         print(folded.first, folded.second, folded.pairs)
    [0] [0] [1]
    [0] [2] [2]
    """
    call = pair_call(x, None, "spearman", run, max_p, min_abs, tail, adjust)
    call.options["batch_edges"] = batch_edges
    if order != "by-row-then-column":
        call.options["order"] = order
    return FoldedStream(call)


def _patterns(fields: Iterable[npt.NDArray[np.integer[Any]]]) -> Patterns:
    return Patterns(*(field.astype(np.int64, copy=False) for field in fields))


def _runs(lengths: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Of runs of these lengths, one behind the other: the run and the place in it of each item."""
    run = np.repeat(np.arange(len(lengths)), lengths)
    return run, np.arange(len(run)) - (np.cumsum(lengths) - lengths)[run]
