"""Pairs whose correlation differs between two groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.records import Names
from .._results.test_of_correlation import adjusted_p_values
from .._shared.messages import integer, real
from .._shared.options import Adjustment, Measure, PairRunOptions, Tail, adjustment_of
from .._tables.places import computed
from .call import pair_call

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
    constant_rows, nan_rows : ndarray of int64
        Variables without a correlation in at least one group, and those that hold a NaN there.
    pairs_tested, pairs_kept : int
        Pairs with a correlation in both groups, and those that passed the filter.
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
    row, col : ndarray of uint32
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
        self.row, self.col, self.first, self.second, self.z, self.p = columns
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
        """
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


def _columns(argument: str, group: npt.ArrayLike, cols: int) -> list[int]:
    """The numbers of the columns of a group that is given by numbers or as a mask."""
    found = np.asarray(group)
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
        Numbers, in the memory of the host.
    groups : pair of array_like
        The columns of each group: their numbers, or a mask of all columns. At least 4 each, none
        in both; columns in neither are left out.
    measure : {"pearson", "spearman"}
        Ranks are taken within each group.
    max_p : float
        Keep p <= max_p, after `adjust`.
    min_abs_z : float
        Keep abs(z) >= min_abs_z; with a one-sided tail z, or -z.
    tail : {"two-sided", "greater", "less"}
        "greater": the correlation of the first group is larger.
    adjust : {"none", "bonferroni", "benjamini-hochberg", "bh"}
        Correction of max_p for the number of pairs.
    max_edges : int, optional
        More pairs raise CapacityExceeded with their number.
    **run
        axis, nans ("reject" or "propagate"), names, copy, progress, cpu_threads, variant: see
        PairRunOptions and RunOptions.

    Returns
    -------
    Differential

    Raises
    ------
    ValueError
        For groups that overlap or have fewer than 4 columns, cuts out of range, a NaN.
    Unsupported
        For other measures, backend="cuda", nans="pairwise", covariates, weights, parts.

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
    call = pair_call(x, None, measure, run, max_p=max_p, tail=tail, adjust=adjust)
    if len(groups) != 2:
        raise ValueError(f"groups: got {len(groups)}, expected 2")
    first, second = (_columns("groups", group, call.cols) for group in groups)
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
