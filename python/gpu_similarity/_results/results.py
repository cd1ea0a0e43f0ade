"""Results over all pairs: partners, counts, the dense matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._shared.options import Adjustment, adjustment_of
from .records import Names, PairResult, categorical
from .test_of_correlation import adjusted_p_values, p_of_test

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from scipy import sparse

NO_PARTNER = 0xFFFFFFFF


def _short(adjust: Adjustment) -> str:
    name = adjustment_of(adjust)
    return "bh" if name == "benjamini-hochberg" else name


def _place_of(name: str, names: Names) -> int:
    """The row of that name."""
    places: Any = np.flatnonzero(names == name) if names is not None else ()
    if len(places) != 1:
        raise KeyError(f"{name!r}: {len(places)} rows have this name")
    return int(places[0])


def _first_of_bins(bins: int) -> npt.NDArray[np.float64]:
    """The least statistic of each bin but the first, as the library bins: floor((s + 1) bins / 2).

    The sum is rounded, so the least double of a bin is sought among all, by halves.
    """
    wanted = np.arange(1.0, bins)
    # Doubles in their order as integers: the bits of the magnitude, with the sign.
    high = np.full(wanted.shape, np.float64(1.0).view(np.int64))
    low = -high
    while (low < high).any():
        middle = (low + high) >> 1
        value = np.copysign(np.abs(middle).view(np.float64), middle)
        is_there = (value + 1.0) * (bins / 2) >= wanted
        low, high = np.where(is_there, low, middle + 1), np.where(is_there, middle, high)
    return np.copysign(np.abs(high).view(np.float64), high)


class Partners(PairResult):
    """The best partners of every row.

    Attributes
    ----------
    index : ndarray of int64, shape (rows, k)
        Row numbers of the partners (of y, where there is one), best first; 4294967295 behind the
        last. Of a part: the rows from `summary.part_begin` on.
    statistic : ndarray of float64, shape (rows, k)
        Their statistics; NaN behind the last.
    count : ndarray of int64, shape (rows,)
        How many partners each row has.
    q : ndarray of float64, shape (rows, k), or None
        With `q=True` in the call: the adjusted p of each partner by the `adjust` of the call, in
        the family of all tested pairs; NaN behind the last. Else None.
    names, y_names, measure, summary
        As `Edges` has them.
    """

    __slots__ = ("_observations", "_p", "_q_of", "count", "index", "q", "statistic")

    def __init__(
        self,
        index: npt.NDArray[np.integer[Any]],
        statistic: npt.NDArray[np.float64],
        count: npt.NDArray[np.integer[Any]],
        *common: Any,
    ) -> None:
        # Unsigned, differences would wrap in the hands of the caller.
        self.index = index.astype(np.int64)
        self.statistic = statistic
        self.count = count.astype(np.int64)
        # With missing values, pair by pair: what the rows of each entry share; else None.
        self._observations: npt.NDArray[np.int64] | None = None
        # Where p depends on the ties of both rows: that of each entry; else None.
        self._p: npt.NDArray[np.float64] | None = None
        # Where the call computed q: by which adjustment.
        self.q: npt.NDArray[np.float64] | None = None
        self._q_of: Adjustment = "none"
        self._common = common

    def __len__(self) -> int:
        return len(self.count)

    def __repr__(self) -> str:
        rows, k = self.index.shape
        return (
            f"Partners: up to {k:,} of each of {rows:,} rows, {self.measure}, "
            f"{self.summary.pairs_kept:,} entries"
        )

    @property
    def p(self) -> npt.NDArray[np.float64]:
        """p of each partner, of the filter's tail, not adjusted; NaN behind the last."""
        if not self.has_p:
            return np.full(self.statistic.shape, np.nan)
        if self._p is not None:
            return self._p
        shared = self.summary.observations if self._observations is None else self._observations
        of_ranks = self.summary.test == "floored_t"
        return np.asarray(p_of_test(self.statistic, shared, self._tail, of_ranks=of_ranks))

    def adjusted_p(self, adjust: Adjustment = "benjamini-hochberg") -> npt.NDArray[np.float64]:
        """q of each partner, in the family of all tested pairs; NaN behind the last.

        Of a call with `q=True` and that `adjust`: its `q`, which is exact. Else exact of
        "bonferroni", and of "benjamini-hochberg" never below q: pairs that are no row's partners
        are not known, and count as larger than all that are. It is q itself where every pair that
        passes the cut on p is there, that is where no row has all k partners.
        """
        if self.q is not None and _short(adjust) == _short(self._q_of):
            return self.q
        q = np.full(self.statistic.shape, np.nan)
        present = np.arange(self.index.shape[1]) < self.count[:, None]
        row, _, partner, _ = self._entries()
        if self.summary.y_rows is None:
            # A pair is one test, also where each of its rows is a partner of the other.
            row, partner = np.minimum(row, partner), np.maximum(row, partner)
        ends = np.stack([row, partner], axis=1).astype(np.int64)
        _, first, which = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        p = self.p[present][first]
        q[present] = adjusted_p_values(p, self.summary.pairs_tested, adjust=adjust)[which.ravel()]
        return q

    def _entries(self) -> tuple[npt.NDArray[Any], ...]:
        present = np.arange(self.index.shape[1]) < self.count[:, None]
        row, rank = np.nonzero(present)
        return row + self.summary.part_begin, rank, self.index[present], self.statistic[present]

    def to_pandas(
        self, *, adjust: Adjustment = "none", categories: bool = False
    ) -> pandas.DataFrame:
        """A pandas.DataFrame, a line for each entry: row, rank (from 0), partner, statistic, p.

        Also q where the call computed it, and with `adjust` as `adjusted_p` gives it; with
        `categories` names are categorical.
        """
        import pandas

        row, rank, partner, statistic = self._entries()
        present = np.arange(self.index.shape[1]) < self.count[:, None]
        names = categorical if categories else (lambda i, own, _: own[i])
        columns = {
            "row": row if self.names is None else names(row, self.names, "names"),
            "rank": rank,
            "partner": partner
            if self.other_names is None
            else names(partner, self.other_names, "names" if self.names is not None else "y_names"),
            "statistic": statistic,
            "p": self.p[present],
        }
        if adjustment_of(adjust) != "none":
            columns["q"] = self.adjusted_p(adjust)[present]
        elif self.q is not None:
            columns["q"] = self.q[present]
        return pandas.DataFrame(columns)

    def to_arrow(self, *, adjust: Adjustment = "none") -> pyarrow.Table:
        """A pyarrow.Table with the columns of `to_pandas`."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.to_pandas(adjust=adjust), preserve_index=False)

    def to_polars(self, *, adjust: Adjustment = "none") -> polars.DataFrame:
        """A polars.DataFrame with the columns of `to_pandas`; needs pyarrow."""
        import polars

        return polars.DataFrame(self.to_arrow(adjust=adjust))

    def to_scipy(self) -> sparse.csr_array:
        """A scipy.sparse.csr_array of statistics, rows of x by rows that can be partners."""
        from scipy import sparse

        row, _, partner, statistic = self._entries()
        ends = (row.astype(np.int64), partner.astype(np.int64))
        shape = (self.summary.rows, self.other_rows)
        return sparse.coo_array((statistic, ends), shape=shape).tocsr()


class Counts(PairResult):
    """How many pairs passed the filter: in all, of each row, and by statistic.

    Attributes
    ----------
    tested, kept : int
        Pairs that have a statistic, and those that passed the filter.
    degree : ndarray of int64, shape (rows,)
        Kept pairs that each row is part of; of x against y, each row of x.
    y_degree : ndarray of int64, shape (rows of y,), or None
        Of x against y: the same of each row of y.
    histogram : ndarray of int64, shape (bins,)
        Kept pairs by statistic.
    bin_edges : ndarray of float64, shape (bins + 1,)
        From -1 to 1: the least double of each bin, and 1 behind the last, so that numpy.histogram
        counts the same bins. They are within 2e-16 of equal steps.
    names, y_names, measure, summary
        As `Edges` has them.
    """

    __slots__ = ("degree", "histogram", "kept", "tested", "y_degree")

    def __init__(
        self,
        tested: int,
        kept: int,
        degree: npt.NDArray[np.integer[Any]],
        y_degree: npt.NDArray[np.integer[Any]] | None,
        histogram: npt.NDArray[np.integer[Any]],
        *common: Any,
    ) -> None:
        self.tested = tested
        self.kept = kept
        self.degree = degree.astype(np.int64)
        self.y_degree = None if y_degree is None else y_degree.astype(np.int64)
        self.histogram = histogram.astype(np.int64)
        self._common = common

    @property
    def bin_edges(self) -> npt.NDArray[np.float64]:
        """The ends of the bins of `histogram`."""
        bins = len(self.histogram)
        return np.concatenate([[-1.0], _first_of_bins(bins), [1.0]]) if bins else np.array([-1.0])

    def __repr__(self) -> str:
        largest = int(self.degree.max()) if len(self.degree) else 0
        return (
            f"Counts: {self.kept:,} of {self.tested:,} pairs of {self.summary.shape()}, "
            f"{self.measure}, {self.summary.cut(self.symbol)}, largest degree {largest:,}"
        )

    def to_pandas(self) -> pandas.Series[Any]:
        """A pandas.Series of the degrees (of x), indexed by name where rows have names."""
        import pandas

        return pandas.Series(self.degree, index=self.names, name="degree")


class Dense(PairResult):
    """The full matrix of statistics.

    NumPy takes it as an array: `numpy.asarray(dense)` is `dense.matrix`, not a copy.

    Attributes
    ----------
    matrix : ndarray of float64 or float32, shape (rows, rows) or (rows of x, rows of y)
        Of one table symmetric, with ones on the diagonal; NaN for rows without a statistic. Of a
        part: its rows alone, from `summary.part_begin` on.
    names, y_names, measure, summary
        As `Edges` has them.
    """

    __slots__ = ("matrix",)

    def __init__(self, matrix: npt.NDArray[Any], *common: Any) -> None:
        self.matrix = matrix
        self._common = common

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.matrix.dtype:
            if copy is False:
                raise ValueError(f"a matrix of {self.matrix.dtype} becomes {dtype} by a copy alone")
            return self.matrix.astype(dtype)
        return self.matrix.copy() if copy else self.matrix

    def __getitem__(self, place: Any) -> Any:
        """`dense[i, j]`: the statistics of those rows, by number, slice or array as of `matrix`.

        A text is a name: `dense["TP53", "MDM2"]`, `dense["TP53"]`. KeyError for a name that no row
        has, or several.
        """
        ends = place if isinstance(place, tuple) else (place,)
        names = (self.names, self.other_names)
        first = (self.summary.part_begin, 0)
        if len(ends) > 2 or not any(isinstance(end, str) for end in ends):
            return self.matrix[place]
        found = zip(ends, names, first, strict=False)
        return self.matrix[
            tuple(
                _place_of(end, own) - begin if isinstance(end, str) else end
                for end, own, begin in found
            )
        ]

    def __repr__(self) -> str:
        rows, cols = self.matrix.shape
        return f"Dense: {rows:,} x {cols:,} {self.matrix.dtype}, {self.measure}\n{self.matrix!r}"

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame over the same memory, as DataFrame.corr gives it."""
        import pandas

        names, first = self.names, self.summary.part_begin
        if names is not None:
            names = names[first : first + len(self.matrix)]
        return pandas.DataFrame(self.matrix, index=names, columns=self.other_names, copy=False)
