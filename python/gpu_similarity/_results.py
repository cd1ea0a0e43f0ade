"""Results over all pairs other than edges: partners, counts, the dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._edges import _SYMBOLS
from ._options import Measure
from ._summary import PairSummary

NO_PARTNER = np.uint32(0xFFFFFFFF)


class Partners:
    """The best partners of every row.

    Attributes
    ----------
    index : ndarray of uint32, shape (rows, k)
        Row numbers of the partners, best first; 4294967295 behind the last.
    statistic : ndarray of float64, shape (rows, k)
        Their statistics; NaN behind the last.
    count : ndarray of uint32, shape (rows,)
        How many partners each row has.
    names : ndarray or None
        Names of the rows.
    measure : str
        "spearman" or "pearson".
    summary : PairSummary
        What the run did; `pairs_kept` counts the entries of the table.
    """

    __slots__ = ("count", "index", "measure", "names", "statistic", "summary")

    def __init__(
        self,
        index: npt.NDArray[np.uint32],
        statistic: npt.NDArray[np.float64],
        count: npt.NDArray[np.uint32],
        summary: PairSummary,
        measure: Measure = "spearman",
        names: npt.NDArray[Any] | None = None,
    ) -> None:
        self.index = index
        self.statistic = statistic
        self.count = count
        self.summary = summary
        self.measure = measure
        self.names = names

    def __len__(self) -> int:
        return len(self.count)

    def __repr__(self) -> str:
        rows, k = self.index.shape
        return (
            f"Partners: up to {k:,} of each of {rows:,} rows, {self.measure}, "
            f"{self.summary.pairs_kept:,} entries"
        )

    def _entries(self) -> tuple[npt.NDArray[Any], ...]:
        present = np.arange(self.index.shape[1]) < self.count[:, None]
        row, rank = np.nonzero(present)
        return row, rank, self.index[present], self.statistic[present]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a line for each entry: row, rank (from 0), partner, statistic."""
        import pandas

        row, rank, partner, statistic = self._entries()
        if self.names is not None:
            row, partner = self.names[row], self.names[partner]
        return pandas.DataFrame(
            {"row": row, "rank": rank, "partner": partner, "statistic": statistic}
        )

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns of `to_pandas`."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.to_pandas(), preserve_index=False)

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_array [rows, rows] of statistics, partners in the columns."""
        from scipy import sparse

        row, _, partner, statistic = self._entries()
        n = len(self)
        ends = (row.astype(np.int64), partner.astype(np.int64))
        return sparse.coo_array((statistic, ends), shape=(n, n)).tocsr()


class Counts:
    """How many pairs passed the filter: in all, of each row, and by statistic.

    Attributes
    ----------
    tested, kept : int
        Pairs that have a statistic, and those that passed the filter.
    degree : ndarray of uint32, shape (rows,)
        Kept pairs that each row is part of.
    histogram : ndarray of uint64, shape (bins,)
        Kept pairs by statistic.
    bin_edges : ndarray of float64, shape (bins + 1,)
        From -1 to 1, as numpy.histogram gives them.
    names : ndarray or None
        Names of the rows.
    measure : str
        "spearman" or "pearson".
    summary : PairSummary
        What the run did.
    """

    __slots__ = ("degree", "histogram", "kept", "measure", "names", "summary", "tested")

    def __init__(
        self,
        tested: int,
        kept: int,
        degree: npt.NDArray[np.uint32],
        histogram: npt.NDArray[np.uint64],
        summary: PairSummary,
        measure: Measure = "spearman",
        names: npt.NDArray[Any] | None = None,
    ) -> None:
        self.tested = tested
        self.kept = kept
        self.degree = degree
        self.histogram = histogram
        self.summary = summary
        self.measure = measure
        self.names = names

    @property
    def bin_edges(self) -> npt.NDArray[np.float64]:
        """The ends of the bins of `histogram`."""
        return np.linspace(-1.0, 1.0, len(self.histogram) + 1)

    def __repr__(self) -> str:
        largest = int(self.degree.max()) if len(self.degree) else 0
        return (
            f"Counts: {self.kept:,} of {self.tested:,} pairs of {len(self.degree):,} rows, "
            f"{self.measure}, {self.summary.cut(_SYMBOLS.get(self.measure, 'r'))}, "
            f"largest degree {largest:,}"
        )

    def to_pandas(self) -> Any:
        """A pandas.Series of the degrees, indexed by name where rows have names."""
        import pandas

        return pandas.Series(self.degree, index=self.names, name="degree")


class Dense:
    """The full matrix of statistics.

    NumPy takes it as an array: `numpy.asarray(dense)` is `dense.matrix`, not a copy.

    Attributes
    ----------
    matrix : ndarray of float64 or float32, shape (rows, rows)
        Symmetric, ones on the diagonal, NaN for rows without a statistic.
    names : ndarray or None
        Names of the rows.
    measure : str
        "spearman" or "pearson".
    summary : PairSummary
        What the run did.
    """

    __slots__ = ("matrix", "measure", "names", "summary")

    def __init__(
        self,
        matrix: npt.NDArray[Any],
        summary: PairSummary,
        measure: Measure = "spearman",
        names: npt.NDArray[Any] | None = None,
    ) -> None:
        self.matrix = matrix
        self.summary = summary
        self.measure = measure
        self.names = names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.matrix.dtype:
            if copy is False:
                raise ValueError(f"a matrix of {self.matrix.dtype} becomes {dtype} by a copy alone")
            return self.matrix.astype(dtype)
        return self.matrix.copy() if copy else self.matrix

    def __repr__(self) -> str:
        rows = self.matrix.shape[0]
        return f"Dense: {rows:,} x {rows:,} {self.matrix.dtype}, {self.measure}\n{self.matrix!r}"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over the same memory, as DataFrame.corr gives it."""
        import pandas

        return pandas.DataFrame(self.matrix, index=self.names, columns=self.names, copy=False)
