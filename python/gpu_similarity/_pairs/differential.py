"""Pairs whose correlation differs between two groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.records import Names
from .._results.test_of_correlation import adjusted_p_values
from .._shared.messages import integer, real, two
from .._shared.options import Adjustment, Measure, PairRunOptions, Tail, adjustment_of, measure_of
from .._tables.arrays import number_array
from .._tables.labels import Match, check_match, matched
from .._tables.places import computed
from .call import PairCall, pair_call

if TYPE_CHECKING:
    import pandas


class DifferentialSummary(NamedTuple):
    """What a call of `differential` did.

    Attributes
    ----------
    rows, first_columns, second_columns : int
        Variables, and the observations of each group.
    standard_error : float
        Of the difference of the transformed correlations.
    constant_rows, nan_rows, infinite_rows : ndarray of int64
        Variables without a correlation in at least one group: their values there are equal, or hold
        a NaN, or an infinite one.
    part_begin, part_end : int
        The rows that the call was about, as a slice: all, but for a part.
    pairs_tested, pairs_kept : int
        Pairs with a correlation in both groups, of a part those of its rows, and those that passed
        the filter. Those tested by the parts of a job add up to the family.
    max_p_effective, min_abs_z_effective : float
        The cut on p after the adjustment, and the least abs(z) that both cuts keep.
    device : str
        What ran.
    seconds : float
        The whole call.
    """

    rows: int
    first_columns: int
    second_columns: int
    standard_error: float
    constant_rows: npt.NDArray[np.int64]
    nan_rows: npt.NDArray[np.int64]
    infinite_rows: npt.NDArray[np.int64]
    part_begin: int
    part_end: int
    pairs_tested: int
    pairs_kept: int
    max_p_effective: float
    min_abs_z_effective: float
    device: str
    seconds: float


class Differential:
    """Pairs of variables with their correlation in both groups.

    Attributes
    ----------
    row, col : ndarray of int64
        The variables, row < col, ascending.
    first, second : ndarray of float64
        The correlation over each group.
    z, p : ndarray of float64
        Fisher's z of the difference, and its p.
    names : ndarray or None
        Names of the variables.
    summary : DifferentialSummary
        What the call did.
    """

    __slots__ = ("col", "first", "names", "p", "row", "second", "summary", "z")

    def __init__(self, columns: tuple[Any, ...], names: Names, summary: DifferentialSummary):
        row, col, self.first, self.second, self.z, self.p = columns
        self.row, self.col = row.astype(np.int64), col.astype(np.int64)
        self.names = names
        self.summary = summary

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"Differential: {len(self):,} of {s.pairs_tested:,} pairs of {s.rows:,} rows, "
            f"{s.first_columns} and {s.second_columns} observations"
        )

    def adjusted_p(self, adjust: Adjustment = "benjamini-hochberg") -> npt.NDArray[np.float64]:
        """q of each pair in the family of all tested pairs.

        Of "benjamini-hochberg" it is exact where no cut but that on p left pairs out.

        Raises
        ------
        ValueError
            Of a part: q depends on all pairs of the job.
        """
        if (self.summary.part_begin, self.summary.part_end) != (0, self.summary.rows):
            raise ValueError("adjusted_p: got the pairs of a part, expected all of a whole run")
        return adjusted_p_values(self.p, self.summary.pairs_tested, adjust=adjust)

    def to_pandas(self, *, adjust: Adjustment = "none") -> pandas.DataFrame:
        """A pandas.DataFrame: row, col, first, second, z, p, and q with `adjust`."""
        import pandas

        columns = {
            "row": self.row if self.names is None else self.names[self.row],
            "col": self.col if self.names is None else self.names[self.col],
            "first": self.first,
            "second": self.second,
            "z": self.z,
            "p": self.p,
        }
        if adjustment_of(adjust) != "none":
            columns["q"] = self.adjusted_p(adjust)
        return pandas.DataFrame(columns)


class DifferentialPartners:
    """The best partners of each variable, with the correlation in both groups.

    Attributes
    ----------
    index : ndarray of int64, shape (rows, k)
        The partners, best first; 4294967295 behind the last. Of a part: the rows from
        `summary.part_begin` on.
    first, second : ndarray of float64, shape (rows, k)
        The correlation over each group; NaN behind the last.
    z, p : ndarray of float64, shape (rows, k)
        Fisher's z of the difference, and its p.
    count : ndarray of int64, shape (rows,)
        How many partners each variable has.
    names : ndarray or None
        Names of the variables.
    summary : DifferentialSummary
        What the call did; `pairs_kept` are the entries.
    """

    __slots__ = ("count", "first", "index", "names", "p", "second", "summary", "z")

    def __init__(self, arrays: tuple[Any, ...], names: Names, summary: DifferentialSummary):
        index, self.first, self.second, self.z, self.p, count = arrays
        self.index, self.count = index.astype(np.int64), count.astype(np.int64)
        self.names = names
        self.summary = summary

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"DifferentialPartners: {s.pairs_kept:,} partners of {s.rows:,} rows, at most "
            f"{self.index.shape[1]} of each"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with an entry a line: row, rank from 1, col, first, second, z, p."""
        import pandas

        row, place = np.nonzero(np.arange(self.index.shape[1]) < self.count[:, None])
        col = self.index[row, place]
        of_table = row + self.summary.part_begin
        return pandas.DataFrame(
            {
                "row": of_table if self.names is None else self.names[of_table],
                "rank": place + 1,
                "col": col if self.names is None else self.names[col],
                "first": self.first[row, place],
                "second": self.second[row, place],
                "z": self.z[row, place],
                "p": self.p[row, place],
            }
        )


def _columns(argument: str, group: npt.ArrayLike, call: PairCall, match: Match) -> list[int]:
    """The numbers of the columns of a group that is given by numbers or as a mask.

    A mask with labels, as a pandas Series has them, is one of the observations of the same labels.
    """
    cols = call.cols
    found = number_array(group, argument)
    if found.dtype == np.bool_:
        found = number_array(matched(group, argument, call.labels, True, match), argument)
    if found.ndim != 1:
        raise ValueError(f"{argument}: got {found.ndim} dimensions, expected 1")
    if found.dtype == np.bool_:
        if len(found) != cols:
            raise ValueError(f"{argument}: got a mask of {len(found)}, expected {cols}")
        return [int(k) for k in np.flatnonzero(found)]
    if len(found) and not np.issubdtype(found.dtype, np.integer):
        raise TypeError(f"{argument}: got {found.dtype}, expected numbers of columns or a mask")
    return [int(k) for k in found]


def differential(
    x: npt.ArrayLike,
    groups: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    measure: Measure = "pearson",
    max_p: float = 1.0,
    min_abs_z: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    max_edges: int | None = None,
    **run: Unpack[PairRunOptions],
) -> Differential:
    """Pairs of rows whose correlation differs between two groups of columns.

    ``z = (arctanh(r1) - arctanh(r2)) / sqrt(f / (n1 - 3) + f / (n2 - 3))`` with f = 1 of "pearson"
    (Fisher) and 1.06 of "spearman" (Fieller, Hartley and Pearson, 1957), and p of the standard
    normal distribution. z is infinite where exactly one of the two is 1 or -1.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Numbers, in the memory of the host or of a GPU, as arrays of CuPy and PyTorch are.
    groups : pair of array_like
        The columns of each group, on the host: their numbers, or a mask of all columns, which is
        matched by label where it is a pandas Series and x has labels. At least 4 each, none in
        both; columns in neither are left out.
    measure : {"pearson", "spearman"}
        Ranks are taken within each group.
    max_p : float
        Keep p <= max_p, after `adjust`.
    min_abs_z : float
        Keep abs(z) >= min_abs_z; with a one-sided tail z, or -z.
    tail : {"two-sided", "greater", "less"}
        "greater": the correlation of the first group is larger.
    adjust : {"none", "bonferroni", "benjamini-hochberg", "bh"}
        Correction of max_p for the number of pairs; of a part for that of the whole job.
    max_edges : int, optional
        More pairs raise CapacityExceeded with their number.
    **run
        axis, match, nans ("reject" or "propagate"), names, copy, part, progress, backend, devices,
        workspace_bytes, cpu_threads, variant: see PairRunOptions and RunOptions. Every backend
        gives the same bits. The edges of parts, one behind the other, are those of
        the whole call.

    Returns
    -------
    Differential

    Raises
    ------
    ValueError
        For groups that overlap or have fewer than 4 columns, cuts out of range, a NaN.
    Unsupported
        For other measures, nans="pairwise", covariates, weights, and for a part with
        adjust="benjamini-hochberg", whose cut depends on all pairs.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(20, 60))
    >>> x[1, :30] = x[0, :30] + 0.3 * x[1, :30]
    >>> found = gs.differential(x, (range(30), range(30, 60)), max_p=0.001, adjust="bonferroni")
    >>> [(int(i), int(j)) for i, j in zip(found.row, found.col)]
    [(0, 1)]
    """
    measure = measure_of(measure)
    match = check_match(run.get("match", "name"))
    call = pair_call(x, None, measure, run, max_p=max_p, tail=tail, adjust=adjust)
    both = two("groups", groups, "two groups of columns")
    first, second = (_columns("groups", group, call, match) for group in both)
    most = 2**63 - 1 if max_edges is None else integer("max_edges", max_edges)
    *columns, told = computed(
        _core.differential,
        call.places,
        call.x,
        first,
        second,
        real("min_abs_z", min_abs_z),
        most,
        call.options,
    )
    return Differential(tuple(columns), call.names, DifferentialSummary(*told))


def differential_partners(
    x: npt.ArrayLike,
    groups: tuple[npt.ArrayLike, npt.ArrayLike],
    k: int,
    *,
    measure: Measure = "pearson",
    max_p: float = 1.0,
    min_abs_z: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "none",
    **run: Unpack[PairRunOptions],
) -> DifferentialPartners:
    """For each row the k partners whose correlation differs most between two groups of columns.

    The largest abs(z) come first, with a one-sided tail the largest z ("greater") or -z ("less");
    equal ones go to the lower row. A pair has the z and p of `differential`.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        Numbers, in the memory of the host or of a GPU, as arrays of CuPy and PyTorch are.
    groups : pair of array_like
        The columns of each group, as `differential` takes them.
    k : int
        Partners of each row, at least 1.
    measure, max_p, min_abs_z, tail, adjust
        As in `differential`: partners are taken from the pairs that pass.
    **run
        As in `differential`. A part is an equal panel of rows: its result has these rows alone, and
        those of parts, one behind the other, are the whole.

    Returns
    -------
    DifferentialPartners

    Raises
    ------
    ValueError, Unsupported
        As in `differential`, and for k below 1.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(20, 60))
    >>> x[1, :30] = x[0, :30] + 0.3 * x[1, :30]
    >>> found = gs.differential_partners(x, (range(30), range(30, 60)), 2)
    >>> int(found.index[0, 0]), int(found.index[1, 0])
    (1, 0)
    """
    measure = measure_of(measure)
    match = check_match(run.get("match", "name"))
    call = pair_call(x, None, measure, run, max_p=max_p, tail=tail, adjust=adjust)
    both = two("groups", groups, "two groups of columns")
    first, second = (_columns("groups", group, call, match) for group in both)
    *arrays, told = computed(
        _core.differential_partners,
        call.places,
        call.x,
        first,
        second,
        integer("k", k),
        real("min_abs_z", min_abs_z),
        call.options,
    )
    return DifferentialPartners(tuple(arrays), call.names, DifferentialSummary(*told))
