"""Clustered heat map with a dendrogram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._pairs.pairs import dense
from .._results.edges import Edges
from .._results.records import PairResult
from .._results.results import Counts, Dense
from .._tables.arrays import table, variables_in_columns
from ._axes import at_least_one, axes_of, short, symbol_of

# Points: smaller type is not read, larger is not needed.
_SMALLEST, _LARGEST = 5.0, 9.0
# A figure grows with its labels, up to so many.
_INCHES_A_LABEL, _MOST_LABELS = 0.14, 100


def heat_map(
    x: npt.ArrayLike | Dense | Edges,
    counts: Counts | None = None,
    *,
    rows: int = 200,
    ax: Any = None,
    axis: Any = "rows",
) -> Any:
    """The correlations among the rows of highest degree, similar rows side by side.

    Parameters
    ----------
    x : array_like, shape (rows, columns), or Dense, or Edges
        What `counts` was computed of. Or a result of one table: `Dense` shows the rows whose
        magnitudes have the largest sums, `Edges` those of highest degree, and pairs that were not
        kept stay empty.
    counts : Counts, optional
        The degrees; needed with a table.
    rows : int
        How many rows to show. A figure of its own is large enough for 100 labels; with more rows
        the axis says that labels are left out.
    ax : matplotlib axes, optional
        Where to draw.
    axis : {"rows", "columns"}
        Where the variables of `x` lie, as in `counts`.

    Returns
    -------
    matplotlib axes
        Ordered by average-linkage clustering of 1 - statistic, with its dendrogram, if SciPy is
        installed, else by degree. Colours span the statistics of different rows, and are
        symmetric around 0 if some are negative.

    Raises
    ------
    ValueError
        Where no row has a kept pair, or `counts` is of x against y.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> gs.plot.heat_map(x, gs.counts(x, max_p=0.05), rows=10).images[0].get_array().shape
    (10, 10)
    """
    chosen, matrix, result = _chosen(x, counts, at_least_one("rows", rows), axis)
    side = max(6.4, _INCHES_A_LABEL * len(chosen)) if len(chosen) <= _MOST_LABELS else 6.4
    axes = axes_of(ax, (side + 0.6, side))
    tree = _tree(matrix)
    order = np.arange(len(matrix)) if tree is None else np.asarray(tree["leaves"])
    image = axes.imshow(matrix[np.ix_(order, order)], interpolation="nearest", **_colours(matrix))
    if tree is not None:
        _draw_tree(axes, tree, len(matrix))
    axes.figure.colorbar(image, ax=axes, label=symbol_of(result.symbol), shrink=0.7)
    axes.set_ylabel("row")
    _label(axes, [short(result.label(row)) for row in chosen[order]])
    return axes


def _chosen(
    x: Any, counts: Counts | None, rows: int, axis: Any
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], PairResult]:
    """The rows to show, their statistics, and the result that names them."""
    if isinstance(x, Dense | Edges):
        return _of_result(x, counts, rows)
    if counts is None:
        raise ValueError("counts: got None with a table, expected those of gs.counts(x, ...)")
    data = table(x, in_columns=variables_in_columns(axis))
    if counts.y_degree is not None or len(data) != len(counts.degree):
        raise ValueError(
            f"counts: got degrees of {counts.summary.shape()}, expected those of the "
            f"{len(data):,} rows of x"
        )
    chosen = _most(counts.degree, rows, "counts")
    # A row that holds a NaN has kept pairs only where they were taken pair by pair.
    nans: Any = "pairwise" if np.isnan(data[chosen]).any() else "reject"
    return chosen, dense(data[chosen], measure=counts.measure, nans=nans).matrix, counts


def _of_result(
    x: Dense | Edges, counts: Counts | None, rows: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], PairResult]:
    if counts is not None:
        raise ValueError(f"counts: got some with a result of {type(x).__name__}, expected None")
    size = x.summary.rows
    if x.summary.y_rows is not None or (isinstance(x, Dense) and len(x.matrix) != size):
        raise ValueError(f"x: got a result of {x.summary.shape()}, expected all pairs of one table")
    if isinstance(x, Dense):
        sums = np.nan_to_num(np.abs(x.matrix)).sum(axis=1)
        chosen = _most(sums, rows, "x")
        return chosen, x.matrix[np.ix_(chosen, chosen)], x
    row, col = (end.astype(np.intp) for end in (x.row, x.col))
    chosen = _most(np.bincount(np.concatenate([row, col]), minlength=size), rows, "x")
    place = np.full(size, -1)
    place[chosen] = np.arange(len(chosen))
    shown = (place[row] >= 0) & (place[col] >= 0)
    row, col = place[row[shown]], place[col[shown]]
    matrix = np.full((len(chosen), len(chosen)), np.nan)
    np.fill_diagonal(matrix, 1)
    matrix[row, col] = matrix[col, row] = x.statistic[shown]
    return chosen, matrix, x


def _most(degree: npt.NDArray[Any], rows: int, argument: str) -> npt.NDArray[np.intp]:
    """The rows of highest degree, none without a pair."""
    chosen = np.argsort(-degree, kind="stable")[:rows]
    chosen = chosen[degree[chosen] > 0]
    if not len(chosen):
        raise ValueError(f"{argument}: no row has a kept pair; take a weaker cut")
    return chosen


def _colours(matrix: npt.NDArray[Any]) -> dict[str, Any]:
    """The range of the statistics of different rows; around 0 where both signs occur."""
    apart = matrix[~np.eye(len(matrix), dtype=bool)]
    apart = apart[~np.isnan(apart)]
    low, high = (apart.min(), apart.max()) if len(apart) else (-1.0, 1.0)
    if low < 0 or low == high:
        most = max(abs(low), abs(high))
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def _tree(matrix: npt.NDArray[Any]) -> dict[str, Any] | None:
    if len(matrix) < 3:
        return None
    try:
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import squareform
    except ImportError:
        return None
    distance = 1 - np.nan_to_num(matrix)
    np.fill_diagonal(distance, 0)
    linkage = hierarchy.average(squareform(np.maximum(distance, 0), checks=False))
    return dict(hierarchy.dendrogram(linkage, no_plot=True))


def _draw_tree(axes: Any, tree: dict[str, Any], rows: int) -> None:
    above = axes.inset_axes([0, 1.01, 1, 0.16])
    for across, up in zip(tree["icoord"], tree["dcoord"], strict=True):
        # SciPy draws leaf i at 5 + 10 i, the image at i.
        above.plot((np.asarray(across) - 5) / 10, up, color="black", lw=0.6)
    above.set_xlim(-0.5, rows - 0.5)
    above.set_ylim(bottom=0)
    above.axis("off")


def _label(axes: Any, labels: list[str]) -> None:
    """Labels all rows, or none: type that fits has to be large enough to be read."""
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    # The dendrogram and the labels take their room from the axes when they are drawn.
    points = 0.85 * 72 * min(box.width, box.height) / len(labels)
    if points < _SMALLEST:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel(f"{len(labels):,} rows of highest degree, too many for labels")
        return
    size = min(points, _LARGEST)
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size)
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.tick_params(length=2, pad=1)
