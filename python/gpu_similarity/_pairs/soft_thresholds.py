"""Soft-threshold networks: connectivity at many powers, scale-free fits, topological overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from .. import _core
from .._results.records import PairResult
from .._results.results import Dense
from .._shared.messages import integer, real
from .._shared.options import Measure, PairRunOptions, RunOptions, measure_of
from .._tables.arrays import doubles
from .._tables.places import computed
from .call import pair_call

if TYPE_CHECKING:
    import pandas

Network = Literal["unsigned", "signed", "signed-hybrid"]
_POWERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20)


class ScaleFreeFit(NamedTuple):
    """How well the connectivity at each power fits a scale-free network.

    Attributes
    ----------
    power : float or None
        The first power whose `signed_r_squared` is above the cut; None where none is.
    powers : ndarray of float64, shape (powers,)
        The powers; what follows has their shape.
    r_squared, slope
        Of the line through log10 p(k) over log10 k.
    signed_r_squared
        `r_squared`, negative where the slope is positive.
    truncated_r_squared
        Adjusted R squared of log10 p(k) by log10 k and k.
    mean, median, max
        Of the connectivity.
    """

    power: float | None
    powers: npt.NDArray[np.float64]
    r_squared: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]
    signed_r_squared: npt.NDArray[np.float64]
    truncated_r_squared: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    median: npt.NDArray[np.float64]
    max: npt.NDArray[np.float64]

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame of the fits, indexed by power."""
        import pandas

        columns = self._asdict()
        del columns["power"]
        return pandas.DataFrame(columns).set_index("powers").rename_axis("power")


class Connectivity(PairResult):
    """The connectivity of every row at several powers.

    NumPy takes it as an array: `numpy.asarray(found)` is `found.connectivity`.

    Attributes
    ----------
    connectivity : ndarray of float64, shape (rows, powers)
        Sums of adjacencies over all other rows; NaN for rows without a statistic. Of a part: its
        rows alone, from `summary.part_begin` on.
    powers : ndarray of float64, shape (powers,)
        The powers.
    network : str
        How a statistic becomes an adjacency.
    names, measure, summary
        As `Edges` has them.
    """

    __slots__ = ("connectivity", "network", "powers")

    def __init__(
        self,
        connectivity: npt.NDArray[np.float64],
        powers: npt.NDArray[np.float64],
        network: Network,
        *common: Any,
    ) -> None:
        self.connectivity = connectivity
        self.powers = powers
        self.network = network
        self._common = common

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.connectivity, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        rows, powers = self.connectivity.shape
        return f"Connectivity: {rows:,} rows, {powers} powers, {self.network}, {self.measure}"

    def scale_free_fit(
        self, *, bins: int = 10, r_squared_cut: float = 0.85, without_first_bin: bool = False
    ) -> ScaleFreeFit:
        """As the function `scale_free_fit`."""
        return scale_free_fit(
            self,
            bins=bins,
            r_squared_cut=r_squared_cut,
            without_first_bin=without_first_bin,
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame over the same memory, a column for each power."""
        import pandas

        names, first = self.names, self.summary.part_begin
        if names is not None:
            names = names[first : first + len(self.connectivity)]
        return pandas.DataFrame(self.connectivity, index=names, columns=self.powers, copy=False)


def connectivity(
    x: npt.ArrayLike,
    powers: npt.ArrayLike = _POWERS,
    *,
    network: Network = "unsigned",
    measure: Measure = "spearman",
    **run: Unpack[PairRunOptions],
) -> Connectivity:
    """The connectivity of each row at many powers, in one pass over all pairs of rows.

    The adjacency of two rows is abs(r) ** power ("unsigned"), ((1 + r) / 2) ** power ("signed") or
    r ** power where r > 0, else 0 ("signed-hybrid"); the connectivity of a row is the sum of its
    adjacencies with all others. These are the first steps of weighted gene co-expression networks
    (WGCNA), without the matrix of all correlations. WGCNA takes measure="pearson" or "bicor".

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        As in `spearman_edges`.
    powers : array_like of float, shape (powers,)
        1 to 64 powers, each above 0 and at most 100. Integers and halves are fastest.
    network : {"unsigned", "signed", "signed-hybrid"}
        How a statistic becomes an adjacency.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    **run
        As in `spearman_edges`; `fold` "always" is not taken. A part has the rows of its panel.

    Returns
    -------
    Connectivity
        Memory: 8 bytes for each row and power. The same bytes with any number of threads, devices
        and parts; CPU and CUDA differ in the last bits.

    Raises
    ------
    ValueError, MemoryError
        For a power or a network out of range, and as `spearman_edges`.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> rows = [[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]]
    >>> found = gs.connectivity(rows, [1, 2], network="signed-hybrid")
    >>> found
    Connectivity: 3 rows, 2 powers, signed-hybrid, spearman
    >>> found.connectivity
    array([[0.8 , 0.64],
           [0.8 , 0.64],
           [0.  , 0.  ]])
    """
    measure = measure_of(measure)
    wanted = _numbers(powers)
    call = pair_call(x, None, measure, run)
    if network != "unsigned":
        call.options["network"] = network
    sums, summary = computed(_core.connectivity, call.places, call.x, wanted, call.options)
    return Connectivity(sums, wanted, network, summary, measure, call.names, None)


def scale_free_fit(
    connectivity: Connectivity | npt.ArrayLike,
    powers: npt.ArrayLike | None = None,
    *,
    bins: int = 10,
    r_squared_cut: float = 0.85,
    without_first_bin: bool = False,
) -> ScaleFreeFit:
    """How well the connectivity at each power fits a scale-free network, and the power to take.

    As WGCNA's scaleFreeFitIndex and pickSoftThreshold: the connectivities are cut into bins of
    equal width, and the logarithm of the share of rows in a bin is fitted over that of their mean.

    Parameters
    ----------
    connectivity : Connectivity or array_like, shape (rows, powers)
        What `connectivity` gave, or any numbers of at least 0; NaN are left out.
    powers : array_like, shape (powers,)
        With an array: the powers of its columns.
    bins : int
        3 to 10,000.
    r_squared_cut : float
        The first power whose signed R squared is above this is taken.
    without_first_bin : bool
        Leave out the bin of the least connectivity.

    Returns
    -------
    ScaleFreeFit
        With NaN where all connectivities of a power are equal.

    Raises
    ------
    ValueError
        For an option out of range, a negative or an infinite number, or powers that do not fit.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=(200, 12))
    >>> fit = gs.connectivity(x, [1, 8, 20], measure="pearson").scale_free_fit(r_squared_cut=0.3)
    >>> fit.power
    20.0
    >>> fit.signed_r_squared.round(3)
    array([0.   , 0.23 , 0.379])
    """
    if isinstance(connectivity, Connectivity):
        if powers is not None:
            raise ValueError("powers: got some with a Connectivity, which has its own")
        numbers, wanted = connectivity.connectivity, connectivity.powers
    else:
        if powers is None:
            raise ValueError("powers: expected those of the columns of connectivity, got none")
        numbers = doubles(connectivity, "connectivity")
        wanted = _numbers(powers)
    options = {
        "bins": integer("bins", bins),
        "r_squared_cut": real("r_squared_cut", r_squared_cut),
        "without_first_bin": bool(without_first_bin),
    }
    power, lines = _core.scale_free_fit(numbers, wanted, options)
    return ScaleFreeFit(power, wanted, *np.ascontiguousarray(lines.T))


def topological_overlap(
    statistics: Dense | npt.ArrayLike,
    *,
    power: float = 6,
    network: Network = "unsigned",
    **run: Unpack[RunOptions],
) -> npt.NDArray[np.float64]:
    """How much of their neighbourhood any two rows of a module share.

    With a the adjacency and k its sums within the module, the overlap of i and j is
    (sum over u of a[i, u] a[u, j] + a[i, j]) / (min(k[i], k[j]) + 1 - a[i, j]).

    Parameters
    ----------
    statistics : Dense or array_like, shape (rows, rows)
        What `dense` gives for the rows of the module, as `gs.dense(x[rows], measure="pearson")`.
    power : float
        Above 0 and at most 100.
    network : {"unsigned", "signed", "signed-hybrid"}
        How a statistic becomes an adjacency.
    **run
        backend, devices, workspace_bytes, cpu_threads of the product: see RunOptions.

    Returns
    -------
    ndarray of float64, shape (rows, rows)
        Symmetric, 1 on the diagonal; NaN in the rows and columns of rows without a statistic.

    Raises
    ------
    ValueError
        Where the matrix is not square, or a number is out of range.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.topological_overlap([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]], power=1)
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    given = statistics.matrix if isinstance(statistics, Dense) else statistics
    table = doubles(given, "statistics")
    options: dict[str, Any] = dict(run)
    options["power"] = real("power", power)
    options["network"] = network
    overlap: npt.NDArray[np.float64] = _core.topological_overlap(table, options)
    return overlap


def _numbers(powers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Powers as an array of doubles of one dimension."""
    numbers = np.atleast_1d(doubles(powers, "powers"))
    if numbers.ndim != 1:
        raise ValueError(f"powers: got {numbers.ndim} dimensions, expected 1")
    return numbers
