"""Pictures of results. Needs matplotlib.

Each function draws into `ax`, or into a new figure, and gives back what it drew into.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import table
from ._edges import Edges
from ._pairs import dense
from ._results import Counts

__all__ = ["degrees", "heat_map", "histogram", "scatters"]


def histogram(counts: Counts, *, ax: Any = None, cut: float | None = None) -> Any:
    """Histogram of the statistic beside what independent rows would give, with the cut.

    Parameters
    ----------
    counts : Counts
        Of `counts(x, bins=...)`, with a filter that keeps every pair.
    ax : matplotlib axes, optional
        Where to draw.
    cut : float, optional
        Magnitude of the statistic to mark, as `critical_correlation` gives it.

    Returns
    -------
    matplotlib axes
        Pairs in each bin, on a logarithmic axis.

    Raises
    ------
    ValueError
        For counts without a histogram.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> axes = gs.plot.histogram(gs.counts(x, bins=40), cut=gs.critical_correlation(0.01, 20))
    >>> axes.get_xlabel()
    'rho'
    """
    if not len(counts.histogram):
        raise ValueError("counts: got no histogram; ask for one with counts(x, bins=100)")
    axes = _axes(ax)
    edges = counts.bin_edges
    axes.stairs(counts.histogram, edges, fill=True, color="tab:blue", alpha=0.7, label="pairs")
    expected = counts.tested * null_share(edges, counts.summary.cols)
    middle = (edges[1:] + edges[:-1]) / 2
    axes.plot(middle, expected, color="black", lw=1, label="independent rows")
    if cut is not None:
        for at in (-cut, cut):
            axes.axvline(at, color="tab:red", ls="--", lw=1, label="cut" if at > 0 else None)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    axes.set_xlim(-1, 1)
    axes.set_xlabel(counts.symbol)
    axes.set_ylabel("pairs")
    axes.legend(frameon=False)
    return axes


def null_share(bin_edges: npt.ArrayLike, observations: int) -> npt.NDArray[np.float64]:
    """Share of the pairs of independent rows in each bin of the correlation.

    Parameters
    ----------
    bin_edges : array_like, shape (bins + 1,)
        Ascending, in [-1, 1].
    observations : int
        At least 3.

    Returns
    -------
    ndarray, shape (bins,)
        From Student's t distribution with observations - 2 degrees of freedom.

    Examples
    --------
    >>> from gpu_similarity.plot import null_share
    >>> null_share([-1, 0, 1], 30)
    array([0.5, 0.5])
    """
    from ._test_of_correlation import p_value

    edges = np.asarray(bin_edges, dtype=np.float64)
    below = np.asarray(p_value(edges, observations, tail="less"))
    return np.diff(below)


def degrees(counts: Counts, *, ax: Any = None, fit: bool = True) -> Any:
    """How many rows have how many kept pairs, log-log.

    Parameters
    ----------
    counts : Counts
        Of a filter that keeps the pairs of interest.
    ax : matplotlib axes, optional
        Where to draw.
    fit : bool
        Draws the straight line of least squares, whose slope a scale-free network has.

    Returns
    -------
    matplotlib axes
        Rows against degree.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> gs.plot.degrees(gs.counts(x, max_p=0.05)).get_xlabel()
    'degree'
    """
    axes = _axes(ax)
    degree, rows = np.unique(counts.degree[counts.degree > 0], return_counts=True)
    axes.loglog(degree, rows, ".", color="tab:blue")
    if fit and len(degree) > 2:
        # Bins of equal width on the logarithmic axis: single degrees are too few at the far end.
        ends = np.unique(np.geomspace(1, degree[-1] + 1, 11).astype(np.int64))
        share = np.histogram(counts.degree, ends)[0] / np.diff(ends)
        middle = np.sqrt(ends[1:] * ends[:-1].astype(np.float64))
        filled = share > 0
        if filled.sum() > 1:
            slope, height = np.polyfit(np.log10(middle[filled]), np.log10(share[filled]), 1)
            axes.plot(
                middle, 10**height * middle**slope, color="black", lw=1, label=f"slope {slope:.2f}"
            )
            axes.legend(frameon=False)
    axes.set_xlabel("degree")
    axes.set_ylabel("rows")
    return axes


def heat_map(x: npt.ArrayLike, counts: Counts, *, rows: int = 200, ax: Any = None) -> Any:
    """The correlations among the rows of highest degree, similar rows side by side.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        What `counts` was computed of.
    counts : Counts
        The degrees.
    rows : int
        How many rows to show.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Ordered by average-linkage clustering where SciPy is installed, else by degree.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> gs.plot.heat_map(x, gs.counts(x, max_p=0.05), rows=10).images[0].get_array().shape
    (10, 10)
    """
    axes = _axes(ax)
    chosen = np.argsort(-counts.degree.astype(np.int64), kind="stable")[:rows]
    chosen = chosen[counts.degree[chosen] > 0]
    matrix = dense(table(x)[chosen], measure=counts.measure).matrix
    order = _clustered(matrix)
    image = axes.imshow(matrix[np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
    axes.figure.colorbar(image, ax=axes, label=counts.symbol)
    if counts.names is not None and len(chosen) <= 40:
        labels = [str(name) for name in counts.names[chosen[order]]]
        axes.set_xticks(range(len(labels)), labels, rotation=90)
        axes.set_yticks(range(len(labels)), labels)
    return axes


def scatters(
    x: npt.ArrayLike,
    edges: Edges,
    y: npt.ArrayLike | None = None,
    *,
    pairs: int = 9,
    figure: Any = None,
) -> Any:
    """Scatter plots of the edges of largest magnitude.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        What `edges` was computed of.
    edges : Edges
        The pairs.
    y : array_like, shape (rows of y, columns), optional
        Where `edges` are those of x against y.
    pairs : int
        How many to show.
    figure : matplotlib figure, optional
        Where to draw.

    Returns
    -------
    matplotlib figure
        One panel a pair, the best first.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> len(gs.plot.scatters(x, gs.spearman_edges(x, max_p=0.05), pairs=4).axes)
    4
    """
    data = table(x)
    others = data if y is None else table(y, "y")
    best = edges.best(pairs)
    columns = max(1, int(np.ceil(np.sqrt(len(best)))))
    lines = max(1, int(np.ceil(len(best) / columns)))
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(2.4 * columns, 2.4 * lines), layout="constrained")
    symbol = edges.symbol
    for place, edge in enumerate(best.records, start=1):
        axes = figure.add_subplot(lines, columns, place)
        axes.plot(data[edge["row"]], others[edge["col"]], ".", ms=4, color="tab:blue")
        axes.set_xlabel(str(edges.label(edge["row"])))
        axes.set_ylabel(str(edges.other_label(edge["col"])))
        axes.set_title(f"{symbol} = {edge['statistic']:.3f}", fontsize="medium")
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def _clustered(matrix: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if len(matrix) < 3:
        return np.arange(len(matrix))
    try:
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import squareform
    except ImportError:
        return np.arange(len(matrix))
    distance = 1 - np.nan_to_num(matrix)
    np.fill_diagonal(distance, 0)
    tree = hierarchy.average(squareform(np.maximum(distance, 0), checks=False))
    return np.asarray(hierarchy.leaves_list(tree), dtype=np.int64)
